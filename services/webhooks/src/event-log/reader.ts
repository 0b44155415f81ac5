// Reads the event log: pages by position, single events with their attempts.
import { ApiError, invalidField } from '@bmg/common/errors';
import type { AttemptLog, RecordedAttempt } from './attempt-log';
import { unpackBodies, type Bodies } from './bodies';
import { stateOf, type State } from './delivery-state';
import { createEmptyRanges, isFilter, namesContact, passes, type EmptyRanges } from './match';
import type { Packer } from './packer';
import type { Room } from './read-budget';
import type { Deliveries } from '../delivery';
import type { Bucket, EventLogStore, LoggedEvent, Match, Range } from './store/buckets';

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
  /** The bytes of the page's content: at most, and by default, PAGE_BYTES_MAX. */
  max_bytes: number | undefined;
  from: Date | undefined;
  to: Date | undefined;
}

export type Period = Pick<Query, 'after' | 'from' | 'to'>;

export interface ReadEvent extends State, Omit<LoggedEvent, 'attempts' | 'delivered' | 'size'> {
  partner_id: string;
  envelope: Buffer;
  logged_at: Date;
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

/** Positions searched for one page: bounds a filter that matches little. */
export const SEARCH_MAX = 20_000;
/** Bytes of content unpacked for one page that is filtered by contact. */
export const OPENED_BYTES_MAX = 8 * 1024 * 1024;
/** Keeps a page within the largest gRPC message. */
export const PAGE_BYTES_MAX = 2 * 1024 * 1024;
/** The most events that the largest gRPC message holds when they are read by their ids. */
const FIND_BYTES_MAX = 3.5 * 1024 * 1024;
/**
 * Each position that is read counts as this many bytes towards the partner's rate. Under a filter,
 * the database reads buckets whose events are not returned.
 */
const READ_BYTES = 64;
const SEARCHED_BYTES = 256;
/** So does each batch of attempts that is read. */
const ATTEMPTS_BYTES = 512;

/** An event with its place in a bucket, before its delivery is looked up. */
interface Found {
  partner_id: string;
  logged: LoggedEvent;
  at: Date;
  envelope: Buffer;
  answers: Array<string | null>;
}

export type Reader = ReturnType<typeof createReader>;

export function createReader(deps: ReaderDependencies) {
  const { store, packer } = deps;
  const empty = createEmptyRanges();
  return {
    page: (query: Query, room: Room): Promise<Page> => readPage(deps, empty, query, room),
    /** The positions of the events of a period. */
    range: (partner_id: string, period: Period): Promise<Range> =>
      rangeOf(deps, partner_id, period),
    /**
     * The given events that are in the partner's log, in the order of their positions; the
     * receiver's answers are null unless requested.
     */
    async find(
      partner_id: string,
      event_ids: string[],
      room: Room,
      answers?: 'with_answers',
    ): Promise<EventWithAttempts[]> {
      await room.reserve(FIND_BYTES_MAX);
      const found = await findEach(deps, partner_id, event_ids);
      found.sort((one, other) => one.logged.seq - other.logged.seq);
      const { events, batches } = await withAttempts(deps, found, answers);
      const bytes = bytesOf(found) + bytesOfAttempts(events);
      room.took(bytes, bytes + batches * ATTEMPTS_BYTES);
      return events;
    },
    /** The positions of these events, by event id, read without their content. */
    async positions(
      partner_id: string,
      event_ids: ReadonlySet<string>,
      room: Room,
    ): Promise<Map<string, number>> {
      await room.reserve(PAGE_BYTES_MAX);
      const found = new Map<string, number>();
      for await (const { at, events } of store.headersOf(partner_id, [...event_ids])) {
        if (at.getTime() < keptSince(deps)) continue;
        for (const one of events) {
          if (event_ids.has(one.event_id) && one.event !== '') found.set(one.event_id, one.seq);
        }
      }
      room.took(0, event_ids.size * READ_BYTES);
      return found;
    },
    /**
     * The first bucket of the range that matches: its events of the range that do, and where it
     * ends. Given `positions`, the first bucket of the range, and its events at these positions
     * that match.
     */
    async bucket(
      partner_id: string,
      range: Range,
      match: Match,
      positions?: ReadonlySet<number>,
    ): Promise<{ events: EventWithAttempts[]; last: number } | undefined> {
      const bucket = await store.firstBucket(partner_id, range, positions ? {} : match);
      if (!bucket) return undefined;
      const wanted = bucket.events.filter(
        (one) =>
          isWithin(range, one) && (!positions || positions.has(one.seq)) && passes(match, one),
      );
      const { events } = await withAttempts(deps, await opened(packer, bucket, wanted));
      return { events, last: Math.min(bucket.last, range.last) };
    },
  };
}

async function readPage(
  deps: ReaderDependencies,
  empty: EmptyRanges,
  query: Query,
  room: Room,
): Promise<Page> {
  const { oldest, newest, first, last } = await rangeOf(deps, query.partner_id, query);
  // A range without positions: everything before it counts as read.
  if (last < first) return { events: [], next: first - 1, has_more: false, oldest, newest };
  const end = Math.min(last, first + SEARCH_MAX - 1);
  await room.reserve(PAGE_BYTES_MAX);
  const { found, next, ...looked } = await search(deps, empty, query, { first, last: end });
  const { events, batches } = await withAttempts(deps, found);
  const bytes = bytesOf(found);
  const looked_at =
    looked.positions * (isFilter(query) ? SEARCHED_BYTES : READ_BYTES) +
    looked.opened_bytes +
    batches * ATTEMPTS_BYTES;
  room.took(bytes, bytes + looked_at);
  return { events, next, has_more: next < last, oldest, newest };
}

const isWithin = ({ first, last }: Range, { seq }: LoggedEvent): boolean =>
  seq >= first && seq <= last;

const keptSince = ({ kept_ms }: ReaderDependencies): number => Date.now() - kept_ms;

const bytesOf = (found: Found[]): number => found.reduce((sum, { logged }) => sum + logged.size, 0);

/** An attempt in a reply, without the receiver's answer. */
const ATTEMPT_BYTES = 256;

const bytesOfAttempts = (events: EventWithAttempts[]): number =>
  events
    .flatMap(({ each_attempt }) => each_attempt)
    .reduce((sum, { answer }) => sum + ATTEMPT_BYTES + (answer?.length ?? 0), 0);

/** Bucket by bucket; of each, only the wanted events stay in memory. */
async function findEach(
  deps: ReaderDependencies,
  partner_id: string,
  event_ids: string[],
): Promise<Found[]> {
  const wanted = new Set(event_ids);
  const kept_since = keptSince(deps);
  const found: Found[] = [];
  let bytes = 0;
  for await (const bucket of deps.store.bucketsOf(partner_id, event_ids)) {
    if (bucket.at.getTime() < kept_since) continue;
    const matching = bucket.events.filter((one) => wanted.has(one.event_id) && passes({}, one));
    for (const { size } of matching) bytes += size;
    if (bytes > FIND_BYTES_MAX && found.length + matching.length > 1) {
      throw invalidField('event_ids', 'have more content than one answer holds: request fewer');
    }
    found.push(...(await opened(deps.packer, bucket, matching)));
  }
  return found;
}

/** The positions to read, within those that exist. */
async function rangeOf(
  { store, kept_ms }: ReaderDependencies,
  partner_id: string,
  { after, from, to }: Period,
): Promise<Range & { oldest: number; newest: number }> {
  const [head, kept, since, until] = await Promise.all([
    store.head(partner_id),
    store.firstSince(partner_id, new Date(Date.now() - kept_ms)),
    from && store.firstSince(partner_id, from),
    to && store.firstSince(partner_id, new Date(to.getTime() + 1)),
  ]);
  const newest = head.last;
  const oldest = kept ?? newest + 1;
  if (after !== undefined && (after < oldest - 1 || after > newest)) {
    const problem =
      after > newest
        ? `is not a position of this log: the newest is ${newest}`
        : `is older than the retention: the oldest position is ${oldest}`;
    throw invalidField('after', problem, { oldest, newest });
  }
  const first = Math.max((after ?? 0) + 1, oldest, from ? (since ?? newest + 1) : 1);
  return {
    first,
    last: until === undefined ? newest : Math.min(newest, until - 1),
    oldest,
    newest,
  };
}

/** Collects from the range, except parts that earlier searches have found empty. */
async function search(
  deps: ReaderDependencies,
  empty: EmptyRanges,
  query: Query,
  range: Range,
): Promise<Collected & { positions: number }> {
  const { partner_id } = query;
  const rest = empty.unsearched(partner_id, query, range);
  if (rest.last < rest.first) return { found: [], next: range.last, opened_bytes: 0, positions: 0 };
  const collected = await collect(deps, query, rest);
  const { found, next } = collected;
  const none_until = (found[0]?.logged.seq ?? next + 1) - 1;
  empty.add(partner_id, query, { first: rest.first, last: none_until });
  return { ...collected, positions: next - rest.first + 1 };
}

interface Collected {
  found: Found[];
  next: number;
  /** Content that was unpacked to search it for a contact. */
  opened_bytes: number;
}

async function collect(
  { store, packer }: ReaderDependencies,
  { partner_id, limit, max_bytes = PAGE_BYTES_MAX, waba_id, events, contact }: Query,
  range: Range,
): Promise<Collected> {
  const found: Found[] = [];
  let bytes = 0;
  let opened_bytes = 0;
  const bytes_max = Math.min(max_bytes, PAGE_BYTES_MAX);
  const match = { waba_id, events };
  const isWanted = (one: LoggedEvent): boolean => isWithin(range, one) && passes(match, one);
  for await (const bucket of store.buckets(partner_id, range, match)) {
    const page: LoggedEvent[] = [];
    let is_full = false;
    let wanted = bucket.events.filter(isWanted);
    let bodies: Bodies | undefined;
    if (contact !== undefined && wanted.length > 0) {
      bodies = await unpackBodies(packer, bucket);
      const { envelopes } = bodies;
      for (const { size } of bucket.events) opened_bytes += size;
      wanted = wanted.filter(({ event_id }) =>
        namesContact(envelopes.get(event_id) as Buffer, contact),
      );
    }
    for (const one of wanted) {
      is_full = found.length + page.length >= limit;
      if (bytes > 0 && bytes + one.size > bytes_max) is_full = true;
      if (is_full) break;
      page.push(one);
      bytes += one.size;
    }
    found.push(...(await opened(packer, bucket, page, bodies)));
    if (is_full) {
      return { found, next: found.at(-1)?.logged.seq ?? range.first - 1, opened_bytes };
    }
    if (opened_bytes >= OPENED_BYTES_MAX) {
      return { found, next: Math.min(bucket.last, range.last), opened_bytes };
    }
  }
  return { found, next: range.last, opened_bytes };
}

/** `bodies` are those of the bucket, if the caller has unpacked them already. */
async function opened(
  packer: Packer,
  bucket: Bucket,
  events: LoggedEvent[],
  bodies?: Bodies,
): Promise<Found[]> {
  if (events.length === 0) return [];
  const { envelopes, answers } = bodies ?? (await unpackBodies(packer, bucket));
  return events.map((logged) => ({
    partner_id: bucket.partner_id,
    logged,
    at: bucket.at,
    // A copy: a view would keep the content of the whole bucket in memory.
    envelope: Buffer.from(envelopes.get(logged.event_id) as Buffer),
    answers: answers[logged.event_id] ?? [],
  }));
}

async function withAttempts(
  { attempts, deliveries }: Pick<ReaderDependencies, 'attempts' | 'deliveries'>,
  found: Found[],
  answered?: 'with_answers',
): Promise<{ events: EventWithAttempts[]; batches: number }> {
  if (found.length === 0) return { events: [], batches: 0 };
  const ids = found.map(({ logged }) => logged.event_id);
  const [later, rows] = await Promise.all([attempts.of(ids, answered), deliveries.findEach(ids)]);
  const now = Date.now();
  const events = found.map(({ partner_id, logged, at, envelope, answers }) => {
    const { attempts: made = [], delivered = false, size: _, ...event } = logged;
    const each_attempt = [
      ...made.map((one, index) => ({ ...one, answer: (answered && answers[index]) ?? null })),
      ...(later.of_event.get(event.event_id) ?? []),
    ].sort((one, other) => one.at.getTime() - other.at.getTime());
    const known = { row: rows.get(event.event_id), attempts: each_attempt, delivered };
    return {
      ...{ ...event, partner_id, logged_at: at, envelope, each_attempt },
      ...stateOf(known, now),
    };
  });
  return { events, batches: later.batches };
}

/** NOT_FOUND: the event is another partner's, deleted, or older than the retention. */
export const noSuchEvent = (): ApiError =>
  new ApiError('NOT_FOUND', 'no event of the log has this event_id');
