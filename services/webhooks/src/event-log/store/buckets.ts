// The collections `event_log` and `event_heads`. A document of the log is a bucket: events of one
// partner at consecutive positions. Inserting a bucket is what gives its events their positions, so
// positions have no gaps, and nothing appears below one that exists. A head outlives its buckets:
// positions are never given twice.
import type { Collection, Db, Filter, FindCursor } from 'mongodb';
import { duplicatesIn, LONG_CURSOR, type Indexes } from '@bmg/common/mongo';
import type { Packed } from '../packer';

/** One attempt to deliver an event, without the receiver's answer, which is packed. */
export interface StoredAttempt {
  number: number;
  at: Date;
  duration_ms: number;
  result: 'delivered' | 'dropped' | 'refused';
  http_status: number | null;
  error: string | null;
  /** The address without its query; null if no POST was made. */
  url: string | null;
  /** Fingerprint of the secret that signed. */
  secret: string | null;
  /** Absent for the partner's webhook URL. */
  endpoint_id?: string;
}

export interface LoggedEvent {
  seq: number;
  event_id: string;
  /** The event's name. Empty once the event was deleted on request: only its position is left. */
  event: string;
  waba_id: string;
  /** Kafka partition: events of one conversation share it. */
  partition: number;
  received_at: Date;
  /** Bytes of the envelope within the packed bodies. */
  size: number;
  /** Trace of the webhook that brought the event. */
  trace_id?: string;
  /** Attempts that ended before the bucket was written. */
  attempts?: StoredAttempt[];
  /** Known as delivered without an attempt here: before a crash, or by an earlier copy. */
  delivered?: true;
}

export interface Bucket {
  _id: string;
  partner_id: string;
  first: number;
  last: number;
  /** When the positions were given; never earlier than in the bucket before. */
  at: Date;
  events: LoggedEvent[];
  packed: Packed;
}

export interface Head {
  /** The last position that was given; 0 before the first. */
  last: number;
  at: Date;
}

/** Why a bucket was not inserted: another replica took its positions, or has one of its events. */
export type Refusal = 'position_taken' | 'event_known';

export interface Range {
  /** Positions, both included. */
  first: number;
  last: number;
}

/** A bucket with the fields that are needed to find events in it. */
export interface Header {
  at: Date;
  events: Array<Pick<LoggedEvent, 'seq' | 'event_id' | 'event'>>;
}

/** A new bucket with the fields that are needed to filter its events. */
export interface Grown extends Range {
  partner_id: string;
  events: Array<Pick<LoggedEvent, 'seq' | 'event' | 'waba_id'>>;
}

export interface Match {
  waba_id?: string | undefined;
  events?: string[] | undefined;
  /** Digits of a phone number, or a BSUID. It is in the content: the store cannot filter. */
  contact?: string | undefined;
}

export const EVENT_LOG = 'event_log';
const EVENT_HEADS = 'event_heads';
export const eventLogIndexes: Indexes = {
  [EVENT_LOG]: [
    { key: { 'events.event_id': 1 }, unique: true },
    { key: { partner_id: 1, at: 1, _id: 1 } },
    // Covers the search for old buckets, which have up to a MiB of content each.
    { key: { at: 1, _id: 1, partner_id: 1, last: 1 } },
  ],
};

const POSITION_DIGITS = 12;
/** Events in a bucket: also how far before a position its bucket can begin. */
export const BUCKET_EVENTS_MAX = 500;
/** Few, because the driver holds a whole batch in memory; a bucket has up to a MiB of content. */
const READ_BATCH = 4;
const HEADER_BATCH = 20;
const EXPIRE_MAX = 500;
const EXPIRED_FIELDS = { partner_id: 1, last: 1, at: 1 } as const;

const bucketKey = (partner_id: string, first: number): string =>
  `${partner_id}/${String(Math.max(0, first)).padStart(POSITION_DIGITS, '0')}`;

export const newBucket = (
  partner_id: string,
  { first, at, events, packed }: Pick<Bucket, 'first' | 'at' | 'events' | 'packed'>,
): Bucket => ({
  _id: bucketKey(partner_id, first),
  partner_id,
  first,
  last: first + events.length - 1,
  at,
  events,
  packed,
});

const firstOf = (bucket_id: string): number => Number(bucket_id.slice(-POSITION_DIGITS));

/** The IDs of the partner's buckets from a position on. */
export const bucketIds = (partner_id: string, first = 0) => ({
  $gte: bucketKey(partner_id, first),
  $lt: `${partner_id}0`,
});

/** The identity under which a bucket's bodies are sealed. */
export const bucketIdentity = (partner_id: string, first: number): string =>
  `event-log/${bucketKey(partner_id, first)}`;

export type EventLogStore = ReturnType<typeof createEventLogStore>;

export function createEventLogStore(db: Db) {
  // An event that a failover may undo must not be read, because its position would be reused.
  const log: Collection<Bucket> = db.collection(EVENT_LOG, {
    readConcern: { level: 'majority' },
    promoteBuffers: true,
  });
  const heads: Collection<Head & { _id: string }> = db.collection(EVENT_HEADS);
  return { ...positionsOf(log, heads), ...eventsOf(log) };
}

/** Gives positions, and takes back those of old events. */
function positionsOf(log: Collection<Bucket>, heads: Collection<Head & { _id: string }>) {
  return {
    async head(partner_id: string): Promise<Head> {
      const [newest, kept] = await Promise.all([
        log.findOne<Head>(
          { _id: bucketIds(partner_id) },
          { projection: { last: 1, at: 1 }, sort: { _id: -1 } },
        ),
        heads.findOne({ _id: partner_id }),
      ]);
      return newest ?? { last: kept?.last ?? 0, at: kept?.at ?? new Date(0) };
    },
    /** Inserts one bucket for each partner; returns the refusals by index. */
    async insert(buckets: Bucket[]): Promise<Map<number, Refusal>> {
      const refused = new Map<number, Refusal>();
      try {
        await log.insertMany(buckets, { ordered: false });
      } catch (error) {
        for (const failure of duplicatesIn(error)) {
          const taken = /index: _id_/.test(failure.errmsg ?? '');
          refused.set(failure.index, taken ? 'position_taken' : 'event_known');
        }
      }
      return refused;
    },
    /** The first position whose bucket was written at `since` or later. */
    async firstSince(partner_id: string, since: Date): Promise<number | undefined> {
      const found = await log.findOne<Pick<Bucket, '_id'>>(
        { partner_id, at: { $gte: since } },
        { projection: { _id: 1 }, sort: { at: 1, _id: 1 } },
      );
      return found ? firstOf(found._id) : undefined;
    },
    /** For each partner, the bucket that follows the given position, if there is one. */
    grown(known: ReadonlyMap<string, number>): Promise<Grown[]> {
      const next = [...known].map(([partner_id, last]) => bucketKey(partner_id, last + 1));
      return log
        .find({ _id: { $in: next } })
        .project<Grown>({
          ...{ partner_id: 1, first: 1, last: 1 },
          ...{ 'events.seq': 1, 'events.event': 1, 'events.waba_id': 1 },
        })
        .toArray();
    },
    /** Deletes buckets written before `before`, up to a limit; false when none is left. */
    async expire(before: Date): Promise<boolean> {
      const old = await log
        .find({ at: { $lt: before } })
        .project<Pick<Bucket, '_id' | 'partner_id' | 'last' | 'at'>>(EXPIRED_FIELDS)
        .sort({ at: 1, _id: 1 })
        .limit(EXPIRE_MAX)
        .toArray();
      if (old.length === 0) return false;
      // First the heads: without its buckets, nothing else knows which positions were given.
      await heads.bulkWrite(
        old.map(({ partner_id, last, at }) => ({
          updateOne: {
            filter: { _id: partner_id },
            update: { $max: { last, at } },
            upsert: true,
          },
        })),
      );
      await log.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } });
      return old.length === EXPIRE_MAX;
    },
  };
}

function eventsOf(log: Collection<Bucket>) {
  const inRange = (partner_id: string, range: Range, match: Match): FindCursor<Bucket> =>
    log
      .find({
        _id: {
          $gte: bucketKey(partner_id, range.first - BUCKET_EVENTS_MAX + 1),
          $lte: bucketKey(partner_id, range.last),
        },
        last: { $gte: range.first },
        ...eventFilter(match),
      })
      .sort({ _id: 1 });
  return {
    /** Which of these events are logged. */
    async known(event_ids: string[]): Promise<Set<string>> {
      const wanted = new Set(event_ids);
      const found = log
        .find({ 'events.event_id': { $in: event_ids } })
        .project<Pick<Bucket, 'events'>>({ 'events.event_id': 1 });
      const known = new Set<string>();
      for await (const { events } of found) {
        for (const { event_id } of events) if (wanted.has(event_id)) known.add(event_id);
      }
      return known;
    },
    /** Buckets with a position of the range, in order, with an event that matches. */
    buckets: (partner_id: string, range: Range, match: Match): AsyncIterable<Bucket> =>
      inRange(partner_id, range, match).batchSize(READ_BATCH).maxTimeMS(LONG_CURSOR.maxTimeMS),
    /** The first of these buckets. */
    async firstBucket(partner_id: string, range: Range, match: Match): Promise<Bucket | null> {
      const [first = null] = await inRange(partner_id, range, match).limit(1).toArray();
      return first;
    },
    /** The buckets with one of these events, in any order. */
    bucketsOf: (partner_id: string, event_ids: string[]): AsyncIterable<Bucket> =>
      log.find({ partner_id, 'events.event_id': { $in: event_ids } }).batchSize(READ_BATCH),
    /** These buckets without the content of the events. */
    headersOf: (partner_id: string, event_ids: string[]): AsyncIterable<Header> =>
      log
        .find({ partner_id, 'events.event_id': { $in: event_ids } })
        .project<Header>({ at: 1, 'events.seq': 1, 'events.event_id': 1, 'events.event': 1 })
        .batchSize(HEADER_BATCH),
  };
}

const eventFilter = ({ waba_id, events }: Match): Filter<Bucket> =>
  waba_id === undefined && !events
    ? {}
    : {
        events: {
          $elemMatch: {
            ...(waba_id !== undefined && { waba_id }),
            ...(events && { event: { $in: events } }),
          },
        },
      };
