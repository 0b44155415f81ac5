// The queries of the screens, each with its cache key.
import {
  infiniteQueryOptions,
  queryOptions,
  useQuery,
  type UseQueryResult,
} from '@tanstack/react-query';
import { call, rememberCsrfToken, type NumberRef } from './client';
import { eventDaysOf, type DayRead, type EventDay } from '../event-days';
import { daysOf, type Days } from '../period';
import { deliveredOf, triedOf } from '../screens/events/health';
import type * as t from './types';

const CLIENTS_PAGE = 500;
const CLIENTS_MAX = 10_000;

/** Null without a session. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: Infinity,
  queryFn: async ({ client }): Promise<t.Session | null> => {
    const { session, log_in } = await call<t.CurrentSession>('GET', '/session/current');
    client.setQueryData(logInQuery.queryKey, log_in);
    if (session) rememberCsrfToken(session.csrf_token);
    return session;
  },
});

/** The ways to sign in. They come with the session. */
export const logInQuery = queryOptions({
  queryKey: ['log-in'],
  staleTime: Infinity,
  queryFn: async () => (await call<t.CurrentSession>('GET', '/session/current')).log_in,
});

/**
 * Returns if the role of the person has a scope; the partner key has all. The gateway enforces it.
 */
export function useMay(): (scope: string) => boolean {
  const person = useQuery(sessionQuery).data?.person ?? null;
  return (scope) => person === null || person.scopes.includes(scope);
}

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async () => (await call<{ settings: t.Settings }>('GET', '/settings')).settings,
});

export const noticesQuery = queryOptions({
  queryKey: ['notices'],
  staleTime: 3_600_000,
  queryFn: async () => (await call<{ notices: t.Notice[] }>('GET', '/notices')).notices,
});

/** Every event that a receiver can be sent. */
export const knownEventsQuery = queryOptions({
  queryKey: ['known-events'],
  staleTime: 3_600_000,
  queryFn: async () => (await call<{ events: t.KnownEvent[] }>('GET', '/known-events')).events,
});

export const billingQuery = queryOptions({
  queryKey: ['billing'],
  queryFn: async () => (await call<{ billing: t.Billing }>('GET', '/billing')).billing,
});

export interface RequestFilter {
  /** Method and path. */
  endpoint?: string | undefined;
  status?: string | undefined;
  key_id?: string | undefined;
  request_id?: string | undefined;
}

export const requestsQuery = (filter: RequestFilter) =>
  infiniteQueryOptions({
    queryKey: ['requests', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      call<t.RequestPage>('GET', '/requests', { query: { ...filter, cursor: pageParam }, signal }),
    getNextPageParam: (last) => last.after ?? undefined,
  });

/** Null once the call is older than the log. */
export const requestQuery = (id: string) =>
  queryOptions({
    queryKey: ['request', id],
    staleTime: Infinity,
    queryFn: async (): Promise<t.LoggedRequest | null> =>
      (await call<t.RequestPage>('GET', '/requests', { query: { id } })).requests[0] ?? null,
  });

/** The endpoints whose calls the log has. */
export const requestEndpointsQuery = queryOptions({
  queryKey: ['request-endpoints'],
  staleTime: Infinity,
  queryFn: async () =>
    (await call<{ endpoints: string[] }>('GET', '/requests/endpoints')).endpoints,
});

/** The latest failed calls, for the overview of what broke. */
export const failedRequestsQuery = queryOptions({
  queryKey: ['failed-requests'],
  queryFn: async ({ signal }) =>
    (
      await call<t.RequestPage>('GET', '/requests', {
        query: { status: 'failed', limit: 100 },
        signal,
      })
    ).requests,
});

export const endpointsQuery = queryOptions({
  queryKey: ['endpoints'],
  queryFn: () => call<{ endpoints: t.WebhookEndpoint[] }>('GET', '/v1/webhook-endpoints'),
});

export const ATTEMPTS_REFRESH_MS = 10_000;

/** Its key is not below that of the list, since a deleted endpoint has no attempts to read. */
export const endpointAttemptsQuery = (endpoint_id: string) =>
  queryOptions({
    queryKey: ['endpoint-attempts', endpoint_id],
    queryFn: async () =>
      (
        await call<{ attempts: t.EndpointAttempt[] }>(
          'GET',
          `/v1/webhook-endpoints/${endpoint_id}/attempts`,
        )
      ).attempts,
    refetchInterval: ATTEMPTS_REFRESH_MS,
  });

const SHADOW_REFRESH_MS = 5_000;

export const shadowsQuery = queryOptions({
  queryKey: ['shadows'],
  queryFn: () => call<{ shadows: t.ListedShadow[] }>('GET', '/v1/webhook-shadows'),
  refetchInterval: ({ state }) => state.data?.shadows[0]?.status === 'running' && SHADOW_REFRESH_MS,
});

/** Below the key of the list, so that both are read again together. */
export const shadowQuery = (shadow_id: string, is_running: boolean) =>
  queryOptions({
    queryKey: ['shadows', shadow_id],
    queryFn: () => call<{ shadow: t.WebhookShadow }>('GET', `/v1/webhook-shadows/${shadow_id}`),
    refetchInterval: is_running && SHADOW_REFRESH_MS,
  });

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: () => call<{ keys: t.ApiKey[] }>('GET', '/v1/keys'),
});

export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: async () => (await call<{ people: t.Person[] }>('GET', '/v1/people')).people,
});

export const approvalQuery = queryOptions({
  queryKey: ['broadcast-approval'],
  queryFn: () => call<t.ApprovalSetting>('GET', '/v1/broadcast-approval'),
});

export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: async () => (await call<{ passkeys: t.Passkey[] }>('GET', '/passkeys')).passkeys,
});

export interface AuditFilter {
  actor?: string | undefined;
  action?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      call<t.AuditPage>('GET', '/v1/audit', {
        query: { ...filter, limit: 50, cursor: pageParam },
        signal,
      }),
    getNextPageParam: (last) => last.paging.cursors.after ?? undefined,
  });

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: async () => (await call<{ sessions: t.OpenSession[] }>('GET', '/sessions')).sessions,
});

export const clientsQuery = queryOptions({
  queryKey: ['clients'],
  queryFn: async (): Promise<t.Client[]> => {
    const clients: t.Client[] = [];
    for (let offset = 0; offset < CLIENTS_MAX; offset += CLIENTS_PAGE) {
      const page = await call<{ clients: t.Client[]; total: number }>('GET', '/v1/clients', {
        query: { limit: CLIENTS_PAGE, offset, status: 'all' },
      });
      clients.push(...page.clients);
      if (clients.length >= page.total || page.clients.length === 0) break;
    }
    return clients;
  },
});

/** The numbers that can be used now. */
/** One function, so that a list with many rows does not filter again with each of its renders. */
const activeOf = (clients: t.Client[]): t.Client[] =>
  clients.filter(({ status }) => status === 'active');

export const useActiveNumbers = (): UseQueryResult<t.Client[]> =>
  useQuery({ ...clientsQuery, select: activeOf, enabled: useMay()('read') });

export const usageQuery = (from: string, to: string) =>
  queryOptions({
    queryKey: ['usage', from, to],
    queryFn: () => call<t.Usage>('GET', '/v1/usage', { query: { from, to } }),
  });

export const messageDaysQuery = queryOptions({
  queryKey: ['message-days'],
  queryFn: async () => (await call<{ days: t.MessageDay[] }>('GET', '/message-days')).days,
});

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
        const page = await call<t.EventPage>('GET', '/v1/events', {
          query: { from: `${day}T00:00:00Z`, limit: EVENTS_SAMPLED },
          signal,
        });
        reads.push({ day, page });
      }
      return eventDaysOf(reads);
    },
  });

export interface EventFigures {
  events: number;
  /** Latest events that were posted to the receiver. */
  attempted: number;
  delivered: number;
}

/** The most events from which the receiver's health is computed. */
export const LATEST_EVENTS = 200;

/** How many events the log has since a time, and the latest of them, the oldest first. */
async function readSince(from: string): Promise<{ events: number; latest: t.LoggedEvent[] }> {
  const read = (query: Record<string, string | number>) =>
    call<t.EventPage>('GET', '/v1/events', { query });
  const { events, newest } = await read({ from, limit: 1 });
  const first = events[0]?.seq;
  if (first === undefined) return { events: 0, latest: [] };
  const after = Math.max(first - 1, newest - LATEST_EVENTS);
  const latest = await read({ after, limit: LATEST_EVENTS });
  // Positions have no gaps.
  return { events: newest - first + 1, latest: latest.events };
}

/** The events of the period that began on the UTC day `from`. */
export const eventFiguresQuery = (from: string) =>
  queryOptions({
    queryKey: ['event-figures', from],
    queryFn: async (): Promise<EventFigures> => {
      const { events, latest } = await readSince(`${from}T00:00:00Z`);
      return { events, attempted: triedOf(latest).length, delivered: deliveredOf(latest) };
    },
  });

const WEEK_MS = 7 * 86_400_000;

/** The latest events of a week, the newest first, with their deliveries to the webhook address. */
export const latestEventsQuery = queryOptions({
  queryKey: ['latest-events'],
  queryFn: async () =>
    (await readSince(new Date(Date.now() - WEEK_MS).toISOString())).latest.toReversed(),
});

/** Deliveries to all receivers that wait for an attempt. */
export const waitingQuery = queryOptions({
  queryKey: ['failed-events', 'retrying', 'total'],
  queryFn: async () =>
    (
      await call<t.FailedEvents>('GET', '/v1/webhooks/failed', {
        query: { status: 'retrying', limit: 1 },
      })
    ).total,
});

export const failedEventsQuery = (status?: string) =>
  infiniteQueryOptions({
    queryKey: ['failed-events', status ?? 'all'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      call<t.FailedEvents>('GET', '/v1/webhooks/failed', {
        query: { limit: 100, status, cursor: pageParam },
      }),
    getNextPageParam: (last) => last.paging.cursors.after ?? undefined,
  });

export const phoneStatusQuery = (number: NumberRef) =>
  queryOptions({
    queryKey: ['phone-status', number.waba_id, number.phone_number_id],
    queryFn: async () =>
      (await call<{ phone: Record<string, unknown> }>('GET', '/v1/phone-status', { number })).phone,
  });

export const numberDaysQuery = (phone_number_id: string) =>
  queryOptions({
    queryKey: ['number-days', phone_number_id],
    queryFn: async () =>
      (await call<{ days: t.NumberDay[] }>('GET', `/numbers/${phone_number_id}/days`)).days,
  });

export const templatesQuery = (number: NumberRef) =>
  queryOptions({
    queryKey: ['templates', number.waba_id],
    queryFn: async () =>
      (await call<{ templates: t.Template[] }>('GET', '/v1/templates', { number })).templates,
  });

/** A template with what the list of them does not have. */
export const templateQuery = (number: NumberRef, id: string) =>
  queryOptions({
    queryKey: ['templates', number.waba_id, id],
    queryFn: async () =>
      (
        await call<t.GetTemplateAnswer>('GET', `/v1/templates/${encodeURIComponent(id)}`, {
          number,
        })
      ).template,
  });

export const broadcastsQuery = infiniteQueryOptions({
  queryKey: ['broadcasts'],
  initialPageParam: 0,
  queryFn: ({ pageParam }) =>
    call<{ broadcasts: t.Broadcast[]; total: number }>('GET', '/v1/broadcasts', {
      query: { limit: 100, offset: pageParam },
    }),
  getNextPageParam: (last, _pages, offset) =>
    offset + last.broadcasts.length < last.total && last.broadcasts.length > 0
      ? offset + last.broadcasts.length
      : undefined,
});

export const broadcastQuery = (id: number) =>
  queryOptions({
    queryKey: ['broadcast', id],
    queryFn: () =>
      call<{ broadcast: t.BroadcastDetail; progress: number }>('GET', `/v1/broadcasts/${id}`),
  });

/** Not kept: prices and the pace of the number change. */
export const forecastQuery = (id: number) =>
  queryOptions({
    queryKey: ['broadcast', id, 'forecast'],
    gcTime: 0,
    queryFn: () =>
      call<{ forecast?: t.BroadcastForecast | null }>('GET', `/v1/broadcasts/${id}`, {
        query: { include: 'forecast' },
      }),
  });

export interface MessageFilter {
  phone_number_id?: string | undefined;
  message_id?: string | undefined;
  recipient?: string | undefined;
  broadcast_id?: number | undefined;
  status?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

export const messagesQuery = (filter: MessageFilter) =>
  infiniteQueryOptions({
    queryKey: ['messages', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      call<t.MessagePage>('GET', '/v1/messages', {
        query: { ...filter, limit: 100, cursor: pageParam },
        signal,
      }),
    getNextPageParam: (last) => last.paging.cursors.after ?? undefined,
  });

/** The latest failed messages since a time, for the overview of what broke. */
export const failedMessagesQuery = (from: string) =>
  queryOptions({
    queryKey: ['failed-messages', from],
    queryFn: ({ signal }) =>
      call<t.MessagePage>('GET', '/v1/messages', {
        query: { status: 'failed', from, limit: 200 },
        signal,
      }),
  });

export const timelineQuery = (message_id: string, phone_number_id: string | undefined) =>
  queryOptions({
    queryKey: ['timeline', message_id],
    queryFn: () =>
      call<t.MessageTimeline>('GET', `/v1/messages/${encodeURIComponent(message_id)}/timeline`, {
        query: { phone_number_id },
      }),
  });

export const ledgerQuery = (filter: {
  from: string;
  to: string;
  phone_number_id?: string | undefined;
}) =>
  infiniteQueryOptions({
    queryKey: ['ledger', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      call<t.LedgerPage>('GET', '/v1/usage/ledger', {
        query: { ...filter, limit: 200, after: pageParam },
        signal,
      }),
    getNextPageParam: (last) => last.next ?? undefined,
  });

/** What a broadcast costs. The totals come with the first entry. */
export const ledgerOfBroadcastQuery = (broadcast_id: number) =>
  queryOptions({
    queryKey: ['ledger-of-broadcast', broadcast_id],
    queryFn: async (): Promise<t.LedgerTotals> => {
      const page = await call<t.LedgerPage>('GET', '/v1/usage/ledger', {
        query: { broadcast_id, limit: 1 },
      });
      return page.totals as t.LedgerTotals;
    },
  });

/** The totals of a period, which come with its first entry. */
export const ledgerTotalsQuery = ({ from, to }: Days) =>
  queryOptions({
    queryKey: ['ledger-totals', from, to],
    queryFn: async (): Promise<t.LedgerTotals> => {
      const page = await call<t.LedgerPage>('GET', '/v1/usage/ledger', {
        query: { from, to, limit: 1 },
      });
      return page.totals as t.LedgerTotals;
    },
  });

export const pricesQuery = (filter: {
  country?: string | undefined;
  category?: string | undefined;
  date?: string | undefined;
}) =>
  queryOptions({
    queryKey: ['prices', filter],
    queryFn: () => call<t.PriceList>('GET', '/v1/prices', { query: filter }),
  });

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
