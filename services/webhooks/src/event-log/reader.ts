// Reads the event log: pages by position, single events with their attempts.
import { ApiError, invalidField } from '@bmg/common/errors';
import type { AttemptLog, RecordedAttempt } from './attempt-log';
import { unpackBodies } from './bodies';
import { stateOf, type State } from './delivery-state';
import type { Packer } from './packer';
import type { Deliveries } from '../store/deliveries';
import type { Bucket, EventLogStore, LoggedEvent, Match } from '../store/event-log';

export interface ReaderDependencies {
  store: EventLogStore;
  attempts: AttemptLog;
  deliveries: Pick<Deliveries, 'findEach'>;
  packer: Packer;
  /** How long events are kept. */
  kept_ms: number;
}

export interface Query extends Match {
  partner_id: string;
  after: number | undefined;
  limit: number;
  from: Date | undefined;
  to: Date | undefined;
  /** The last position to read. */
  until?: number;
}

export type Period = Pick<Query, 'after' | 'from' | 'to'>;

export interface ReadEvent extends State {
  seq: number;
  event_id: string;
  partner_id: string;
  event: string;
  waba_id: string;
  partition: number;
  envelope: Buffer;
  received_at: Date;
  logged_at: Date;
  trace_id: string | undefined;
}

export interface Page {
  events: ReadEvent[];
  /** The position to continue after. */
  next: number;
  has_more: boolean;
  oldest: number;
  newest: number;
}

export interface EventWithAttempts extends ReadEvent {
  each_attempt: RecordedAttempt[];
}

export interface Reader {
  page(query: Query): Promise<Page>;
  /** The positions that a period has. */
  range(partner_id: string, period: Period): Promise<{ first: number; last: number }>;
  /** The given events that are in the partner's log, in the order of their positions. */
  find(partner_id: string, event_ids: string[]): Promise<EventWithAttempts[]>;
}

/** Positions searched for one page: bounds a filter that matches little. */
const SEARCH_MAX = 20_000;
/** Keeps a page within the largest gRPC message. */
const PAGE_BYTES_MAX = 2 * 1024 * 1024;

/** An event with its place in a bucket, before its delivery is looked up. */
interface Found {
  partner_id: string;
  logged: LoggedEvent;
  at: Date;
  envelope: Buffer;
  answers: Array<string | null>;
}

export function createReader(deps: ReaderDependencies): Reader {
  return {
    async page(query) {
      const { partner_id, after, from, to } = query;
      const { oldest, newest, ...range } = await rangeOf(deps, partner_id, { after, from, to });
      const first = range.first;
      const last = Math.min(range.last, query.until ?? newest);
      const end = Math.min(last, first + SEARCH_MAX - 1);
      const { found, next } = await collect(deps, query, { first, last: end });
      const events = await withAttempts(deps, found);
      return { events, next, has_more: next < last, oldest, newest };
    },
    range: (partner_id, period) => rangeOf(deps, partner_id, period),
    async find(partner_id, event_ids) {
      const wanted = new Set(event_ids);
      const kept_since = Date.now() - deps.kept_ms;
      const found: Found[] = [];
      for (const bucket of await deps.store.bucketsOf(partner_id, event_ids)) {
        if (bucket.at.getTime() < kept_since) continue;
        const matching = bucket.events.filter((one) => wanted.has(one.event_id) && isKept(one));
        found.push(...(await opened(deps.packer, bucket, matching)));
      }
      found.sort((one, other) => one.logged.seq - other.logged.seq);
      return withAttempts(deps, found, 'with_answers');
    },
  };
}

const isKept = ({ event }: LoggedEvent): boolean => event !== '';

/** The positions to read, and which there are. */
async function rangeOf(
  { store, kept_ms }: ReaderDependencies,
  partner_id: string,
  { after, from, to }: Period,
): Promise<{ first: number; last: number; oldest: number; newest: number }> {
  const [head, kept, since, until] = await Promise.all([
    store.head(partner_id),
    store.firstSince(partner_id, new Date(Date.now() - kept_ms)),
    from && store.firstSince(partner_id, from),
    to && store.firstSince(partner_id, new Date(to.getTime() + 1)),
  ]);
  const newest = head.last;
  const oldest = kept ?? newest + 1;
  if (after !== undefined && after < oldest - 1) {
    throw invalidField('after', `is older than what is kept: the oldest position is ${oldest}`, {
      oldest,
      newest,
    });
  }
  if (after !== undefined && after > newest) {
    throw invalidField('after', `is not a position of this log: the newest is ${newest}`, {
      oldest,
      newest,
    });
  }
  const first = Math.max((after ?? 0) + 1, oldest, from ? (since ?? newest + 1) : 1);
  return {
    first,
    last: until === undefined ? newest : Math.min(newest, until - 1),
    oldest,
    newest,
  };
}

async function collect(
  { store, packer }: ReaderDependencies,
  { partner_id, limit, waba_id, events }: Query,
  range: { first: number; last: number },
): Promise<{ found: Found[]; next: number }> {
  const found: Found[] = [];
  let bytes = 0;
  // A range without positions: everything before it counts as read.
  if (range.last < range.first) return { found, next: range.first - 1 };
  const isWanted = (one: LoggedEvent): boolean =>
    one.seq >= range.first &&
    one.seq <= range.last &&
    isKept(one) &&
    (waba_id === undefined || one.waba_id === waba_id) &&
    (!events || events.includes(one.event));
  for await (const bucket of store.buckets(partner_id, range, { waba_id, events })) {
    const page: LoggedEvent[] = [];
    let is_full = false;
    for (const one of bucket.events) {
      if (!isWanted(one)) continue;
      is_full = found.length + page.length >= limit;
      if (bytes > 0 && bytes + one.size > PAGE_BYTES_MAX) is_full = true;
      if (is_full) break;
      page.push(one);
      bytes += one.size;
    }
    found.push(...(await opened(packer, bucket, page)));
    if (is_full) return { found, next: found.at(-1)?.logged.seq ?? range.first - 1 };
  }
  return { found, next: range.last };
}

async function opened(packer: Packer, bucket: Bucket, events: LoggedEvent[]): Promise<Found[]> {
  if (events.length === 0) return [];
  const { envelopes, answers } = await unpackBodies(packer, bucket);
  return events.map((logged) => ({
    partner_id: bucket.partner_id,
    logged,
    at: bucket.at,
    envelope: envelopes.get(logged.event_id) as Buffer,
    answers: answers[logged.event_id] ?? [],
  }));
}

async function withAttempts(
  { attempts, deliveries }: Pick<ReaderDependencies, 'attempts' | 'deliveries'>,
  found: Found[],
  answered?: 'with_answers',
): Promise<EventWithAttempts[]> {
  if (found.length === 0) return [];
  const ids = found.map(({ logged }) => logged.event_id);
  const [later, rows] = await Promise.all([attempts.of(ids, answered), deliveries.findEach(ids)]);
  const now = Date.now();
  return found.map(({ partner_id, logged, at, envelope, answers }) => {
    const { seq, event_id, event, waba_id, partition, received_at, trace_id } = logged;
    const each_attempt = [
      ...(logged.attempts ?? []).map((one, index) => ({ ...one, answer: answers[index] ?? null })),
      ...(later.get(event_id) ?? []),
    ].sort((one, other) => one.at.getTime() - other.at.getTime());
    const known = {
      row: rows.get(event_id),
      attempts: each_attempt,
      delivered: logged.delivered === true,
    };
    const place = {
      seq,
      event_id,
      partner_id,
      event,
      waba_id,
      partition,
      received_at,
      logged_at: at,
      trace_id,
    };
    return { ...place, envelope, each_attempt, ...stateOf(known, now) };
  });
}

/** NOT_FOUND: the event is another partner's, deleted, or older than the retention. */
export const noSuchEvent = (): ApiError =>
  new ApiError('NOT_FOUND', 'no event of the log has this event_id');
