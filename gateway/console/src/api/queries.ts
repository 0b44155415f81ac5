// The queries of the screens, each with its cache key, and changes after which they are read again.
import {
  infiniteQueryOptions,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';
import { call, rememberCsrfToken, type NumberRef, type Request } from './client';
import { eventDaysOf, type DayRead, type EventDay } from '../figures';
import { DAY_MS, daysOf, type Days } from '../period';
import { deliveredOf, triedOf } from '../screens/events/health';
import type * as t from './types';

/** What a button starts. */
export interface Work {
  mutate: () => void;
  isPending: boolean;
  error: Error | null;
}

type Queries = ReadonlyArray<{ queryKey: readonly unknown[] }>;

function useReload(queries: Queries) {
  const client = useQueryClient();
  return () => Promise.all(queries.map(({ queryKey }) => client.invalidateQueries({ queryKey })));
}

/**
 * A change, after which the queries that show it are loaded again. What it answers is forgotten
 * with the component: it may be a secret.
 */
export function useChange<T, V = void>(
  queries: Queries,
  change: (given: V) => Promise<T>,
  onSuccess?: () => void,
) {
  const reload = useReload(queries);
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      onSuccess?.();
      await reload();
    },
    gcTime: 0,
  });
}

/** A change that may have an effect although it fails: the queries are loaded again then too. */
export const useAttempt = <T, V = void>(queries: Queries, attempt: (given: V) => Promise<T>) =>
  useMutation({ mutationFn: attempt, onSettled: useReload(queries), gcTime: 0 });

type Query = Request['query'];

const get = <T>(path: string, query?: Query, request: Request = {}): Promise<T> =>
  call<T>('GET', path, { ...request, query });

/** An answer is kept by its path and parameters: the path names all of its answers. */
const keyOf = (path: string, ...parameters: unknown[]): unknown[] => [
  path,
  ...parameters.filter((one) => one !== undefined),
];

const answerQuery = <T>(path: string, query?: Query) =>
  queryOptions({
    queryKey: keyOf(path, query),
    queryFn: ({ signal }) => get<T>(path, query, { signal }),
  });

interface MemberOptions {
  query?: Query;
  number?: NumberRef;
  /** The account or number that the answer is about. */
  about?: string;
  staleTime?: number;
  gcTime?: number;
}

/** A query of one member of an answer; null if the answer lacks it. */
const memberQuery = <T>(
  path: string,
  member: string,
  { query, number, about, ...options }: MemberOptions = {},
) =>
  queryOptions({
    queryKey: keyOf(path, member, query, about),
    queryFn: async ({ signal }) =>
      ((await get<Record<string, T>>(path, query, { number, signal }))[member] ?? null) as T,
    ...options,
  });

/** A query of a list page by page. `nextOf` gives the cursor of the next page. */
const pagesQuery = <P>(
  path: string,
  query: Query,
  nextOf: (page: P) => string | null | undefined,
  cursor = 'cursor',
) =>
  infiniteQueryOptions({
    queryKey: keyOf(path, query),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => get<P>(path, { ...query, [cursor]: pageParam }, { signal }),
    getNextPageParam: (last) => nextOf(last) ?? undefined,
  });

const cursorOf = ({ paging }: { paging: { cursors: { after: string | null } } }) =>
  paging.cursors.after;

const CLIENTS_PAGE = 500;
const CLIENTS_MAX = 10_000;
const RARELY = { staleTime: 3_600_000 };
const ONCE = { staleTime: Infinity };

/** Null without a session. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: Infinity,
  queryFn: async ({ client }): Promise<t.Session | null> => {
    const { session, log_in } = await get<t.CurrentSession>('/session/current');
    client.setQueryData(logInQuery.queryKey, log_in);
    if (session) rememberCsrfToken(session.csrf_token);
    return session;
  },
});

/** The ways to sign in. They come with the session. */
export const logInQuery = memberQuery<t.CurrentSession['log_in']>(
  '/session/current',
  'log_in',
  ONCE,
);

/**
 * Returns if the role of the person has a scope, or none is needed; the partner key has all. The
 * gateway enforces it.
 */
export function useMay(): (scope: string | null) => boolean {
  const person = useQuery(sessionQuery).data?.person ?? null;
  return (scope) => scope === null || person === null || person.scopes.includes(scope);
}

export const settingsQuery = memberQuery<t.Settings>('/settings', 'settings');
export const billingQuery = memberQuery<t.Billing>('/billing', 'billing');
export const passkeysQuery = memberQuery<t.Passkey[]>('/passkeys', 'passkeys');
export const sessionsQuery = memberQuery<t.OpenSession[]>('/sessions', 'sessions');
export const peopleQuery = memberQuery<t.Person[]>('/v1/people', 'people');
export const keysQuery = memberQuery<t.ApiKey[]>('/v1/keys', 'keys');
export const messageDaysQuery = memberQuery<t.MessageDay[]>('/message-days', 'days');
export const noticesQuery = memberQuery<t.Notice[]>('/notices', 'notices', RARELY);
/** Every event that a receiver can be sent. */
export const knownEventsQuery = memberQuery<t.KnownEvent[]>('/known-events', 'events', RARELY);
/** The endpoints whose calls the log has. */
export const requestEndpointsQuery = memberQuery<string[]>(
  '/requests/endpoints',
  'endpoints',
  ONCE,
);
export const approvalQuery = answerQuery<t.ApprovalSetting>('/v1/broadcast-approval');

/** `endpoint` is a method and a path. */
export type RequestFilter = Partial<
  Record<'endpoint' | 'status' | 'key_id' | 'request_id', string>
>;

export const requestsQuery = (filter: RequestFilter) =>
  pagesQuery<t.RequestPage>('/requests', { ...filter }, (page) => page.after);

/** No call once it is older than the log. */
export const requestQuery = (id: string) =>
  memberQuery<t.LoggedRequest[]>('/requests', 'requests', { query: { id }, ...ONCE });

/** The latest failed calls, for the overview of what broke. */
export const failedRequestsQuery = memberQuery<t.LoggedRequest[]>('/requests', 'requests', {
  query: { status: 'failed', limit: 100 },
});

export const endpointsQuery = memberQuery<t.WebhookEndpoint[]>(
  '/v1/webhook-endpoints',
  'endpoints',
);

export const ATTEMPTS_REFRESH_MS = 10_000;

export const endpointAttemptsQuery = (id: string) =>
  memberQuery<t.EndpointAttempt[]>(`/v1/webhook-endpoints/${id}/attempts`, 'attempts');

export const shadowsQuery = memberQuery<t.ListedShadow[]>('/v1/webhook-shadows', 'shadows');

export const shadowQuery = (id: string) =>
  memberQuery<t.WebhookShadow>(`/v1/webhook-shadows/${id}`, 'shadow');

export const auditQuery = (filter: Partial<Record<'actor' | 'action' | 'from' | 'to', string>>) =>
  pagesQuery<t.AuditPage>('/v1/audit', { ...filter, limit: 50 }, cursorOf);

export const clientsQuery = queryOptions({
  queryKey: ['clients'],
  queryFn: async (): Promise<t.Client[]> => {
    const clients: t.Client[] = [];
    for (let offset = 0; offset < CLIENTS_MAX; offset += CLIENTS_PAGE) {
      const query = { limit: CLIENTS_PAGE, offset, status: 'all' };
      const page = await get<{ clients: t.Client[]; total: number }>('/v1/clients', query);
      clients.push(...page.clients);
      if (clients.length >= page.total || page.clients.length === 0) break;
    }
    return clients;
  },
});

/** One function, so that a list with many rows does not filter again with each of its renders. */
const activeOf = (clients: t.Client[]): t.Client[] =>
  clients.filter(({ status }) => status === 'active');

/** The numbers that can be used now. */
export const useActiveNumbers = (): UseQueryResult<t.Client[]> =>
  useQuery({ ...clientsQuery, select: activeOf, enabled: useMay()('read') });

export const usageQuery = ({ from, to }: Days) => answerQuery<t.Usage>('/v1/usage', { from, to });

/** A month takes thirty requests: too many to repeat on each visit to the overview. */
const EVENT_DAYS_STALE_MS = 300_000;

/** Events of a day whose deliveries are a sample of the receiver's answers. */
export const EVENTS_SAMPLED = 25;

/** One request for each day, one at a time. */
export const eventDaysQuery = (from: string, to: string) =>
  queryOptions({
    queryKey: ['event-days', from, to],
    staleTime: EVENT_DAYS_STALE_MS,
    queryFn: async ({ signal }): Promise<EventDay[]> => {
      const reads: DayRead[] = [];
      for (const day of daysOf({ from, to })) {
        const query = { from: `${day}T00:00:00Z`, limit: EVENTS_SAMPLED };
        reads.push({ day, page: await get<t.EventPage>('/v1/events', query, { signal }) });
      }
      return eventDaysOf(reads);
    },
  });

/** The most events from which the receiver's health is computed. */
export const LATEST_EVENTS = 200;

/** How many events the log has since a time, and the latest of them, the oldest first. */
async function readSince(from: string): Promise<{ events: number; latest: t.LoggedEvent[] }> {
  const { events, newest } = await get<t.EventPage>('/v1/events', { from, limit: 1 });
  const first = events[0]?.seq;
  if (first === undefined) return { events: 0, latest: [] };
  const after = Math.max(first - 1, newest - LATEST_EVENTS);
  const latest = await get<t.EventPage>('/v1/events', { after, limit: LATEST_EVENTS });
  // Positions have no gaps.
  return { events: newest - first + 1, latest: latest.events };
}

/** The events since the UTC day `from`, and how many of the latest were posted to the receiver. */
export const eventFiguresQuery = (from: string) =>
  queryOptions({
    queryKey: ['event-figures', from],
    queryFn: async () => {
      const { events, latest } = await readSince(`${from}T00:00:00Z`);
      return { events, attempted: triedOf(latest).length, delivered: deliveredOf(latest) };
    },
  });

/** The latest events of a week, the newest first, with their deliveries to the webhook address. */
export const latestEventsQuery = queryOptions({
  queryKey: ['latest-events'],
  queryFn: async () =>
    (await readSince(new Date(Date.now() - 7 * DAY_MS).toISOString())).latest.toReversed(),
});

const FAILED_EVENTS = '/v1/webhooks/failed';

/** All queries of deliveries that wait or were given up. */
export const FAILED = { queryKey: [FAILED_EVENTS] };

/** Deliveries to all receivers that wait for an attempt. */
export const waitingQuery = memberQuery<t.FailedEvents['total']>(FAILED_EVENTS, 'total', {
  query: { status: 'retrying', limit: 1 },
});

export const failedEventsQuery = (status?: string) =>
  pagesQuery<t.FailedEvents>(FAILED_EVENTS, { limit: 100, status }, cursorOf);

export const phoneStatusQuery = (number: NumberRef) =>
  memberQuery<Record<string, unknown>>('/v1/phone-status', 'phone', {
    number,
    about: `${number.waba_id}/${number.phone_number_id}`,
  });

export const numberDaysQuery = (id: string) =>
  memberQuery<t.NumberDay[]>(`/numbers/${id}/days`, 'days');

const TEMPLATES_PATH = '/v1/templates';

/** The lists of the templates of all accounts. */
export const TEMPLATES = { queryKey: [TEMPLATES_PATH] };

export const templatesQuery = (number: NumberRef) =>
  memberQuery<t.Template[]>(TEMPLATES_PATH, 'templates', { number, about: number.waba_id });

/** A template with what the list of them does not have. */
export const templateQuery = (number: NumberRef, id: string) =>
  memberQuery<t.GetTemplateAnswer['template']>(
    `${TEMPLATES_PATH}/${encodeURIComponent(id)}`,
    'template',
    { number, about: number.waba_id },
  );

export const broadcastsQuery = infiniteQueryOptions({
  queryKey: ['broadcasts'],
  initialPageParam: 0,
  queryFn: ({ pageParam: offset }) =>
    get<{ broadcasts: t.Broadcast[]; total: number }>('/v1/broadcasts', { limit: 100, offset }),
  getNextPageParam: ({ broadcasts, total }, _pages, offset) => {
    const next = offset + broadcasts.length;
    return next < total && next > offset ? next : undefined;
  },
});

const broadcastPath = (id: number): string => `/v1/broadcasts/${id}`;

export const broadcastQuery = (id: number) =>
  answerQuery<{ broadcast: t.BroadcastDetail; progress: number }>(broadcastPath(id));

/** Not kept: prices and the pace of the number change. */
export const forecastQuery = (id: number) =>
  memberQuery<t.BroadcastForecast | null>(broadcastPath(id), 'forecast', {
    query: { include: 'forecast' },
    gcTime: 0,
  });

type MessageFact = 'phone_number_id' | 'message_id' | 'recipient' | 'status' | 'from' | 'to';
export type MessageFilter = Partial<Record<MessageFact, string>> & { broadcast_id?: number };

export const messagesQuery = (filter: MessageFilter) =>
  pagesQuery<t.MessagePage>('/v1/messages', { ...filter, limit: 100 }, cursorOf);

/** The most contacts that a broadcast can have. */
const SENT_MAX = 10_000;
const SENT_PAGE = 200;

/** Every message that a broadcast sent, page by page. */
export async function readSentBy(broadcast_id: number, status?: string): Promise<t.Message[]> {
  const messages: t.Message[] = [];
  let cursor: string | undefined;
  do {
    const query = { broadcast_id, status, limit: SENT_PAGE, cursor };
    const page: t.MessagePage = await get('/v1/messages', query);
    messages.push(...page.messages);
    cursor = cursorOf(page) ?? undefined;
  } while (cursor !== undefined && messages.length < SENT_MAX);
  return messages;
}

/** The latest failed messages since a time, for the overview of what broke. */
export const failedMessagesQuery = (from: string) =>
  memberQuery<t.Message[]>('/v1/messages', 'messages', {
    query: { status: 'failed', from, limit: 200 },
  });

export const timelineQuery = (message_id: string, phone_number_id: string | undefined) =>
  answerQuery<t.MessageTimeline>(`/v1/messages/${encodeURIComponent(message_id)}/timeline`, {
    phone_number_id,
  });

const LEDGER = '/v1/usage/ledger';

export const ledgerQuery = (filter: Days & { phone_number_id?: string | undefined }) =>
  pagesQuery<t.LedgerPage>(LEDGER, { ...filter, limit: 200 }, (page) => page.next, 'after');

/** The totals of a filter, which come with its first entry. */
const totalsQuery = (filter: Query) =>
  memberQuery<t.LedgerTotals>(LEDGER, 'totals', { query: { ...filter, limit: 1 } });

/** What a broadcast costs. */
export const ledgerOfBroadcastQuery = (broadcast_id: number) => totalsQuery({ broadcast_id });

export const ledgerTotalsQuery = ({ from, to }: Days) => totalsQuery({ from, to });

export const pricesQuery = (filter: Partial<Record<'country' | 'category' | 'date', string>>) =>
  answerQuery<t.PriceList>('/v1/prices', filter);

/** `body` is the JSON of the send, with its kind: the text is the cache key too. */
export const messageCheckQuery = (number: NumberRef, body: string) =>
  queryOptions({
    queryKey: ['message-check', number.phone_number_id, body],
    queryFn: () =>
      call<t.MessageCheck>('POST', '/v1/messages/check', {
        number,
        body: JSON.parse(body) as object,
      }),
  });
