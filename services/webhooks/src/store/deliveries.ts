// Events that wait: not taken yet, or put aside because their receiver is slow. A delivered event leaves.
import type { AnyBulkWriteOperation, Collection, Db, IndexDescription } from 'mongodb';
import { createBatchWriter, isDuplicateKey } from '@bmg/common/mongo';
import type { DeliveryStatus } from '../delivery/retry-schedule';

export interface StoredDelivery {
  /** The event id: stable over every try and every upstream repetition. */
  _id: string;
  partner_id: string;
  event: string;
  waba_id: string;
  phone_number_id: string | null;
  conversation: string;
  /** The Kafka partition it came by: whoever consumes that one also retries it. */
  partition: number;
  /** Its offset there: the order within a conversation. */
  order: number;
  body: string;
  status: DeliveryStatus;
  attempts: number;
  created_at: Date;
  received_at: Date;
  last_attempt_at: Date | null;
  next_attempt_at: Date | null;
  last_http_status: number | null;
  last_error: string | null;
  expires_at: Date;
}

/** What the scheduler keeps in memory of a stored event. */
export type Waiting = Pick<
  StoredDelivery,
  | '_id'
  | 'partner_id'
  | 'conversation'
  | 'partition'
  | 'order'
  | 'attempts'
  | 'next_attempt_at'
  | 'created_at'
>;

export type AttemptRecord = Pick<
  StoredDelivery,
  'status' | 'attempts' | 'last_attempt_at' | 'next_attempt_at' | 'last_http_status' | 'last_error'
> &
  Partial<Pick<StoredDelivery, 'expires_at'>>;

export interface Deliveries {
  /** Resolves once stored; a row that is there already stays as it is. */
  put(delivery: StoredDelivery): Promise<void>;
  update(event_id: string, attempt: AttemptRecord): Promise<void>;
  remove(event_id: string): Promise<void>;
  find(event_id: string): Promise<StoredDelivery | null>;
  /** The partner's own view. */
  findOf(partner_id: string, event_id: string): Promise<StoredDelivery | null>;
  listOf(
    partner_id: string,
    statuses: DeliveryStatus[],
    page: { limit: number; after: Cursor | undefined },
  ): Promise<StoredDelivery[]>;
  /** For the scheduler: rows waiting in these partitions, in order of arrival. */
  waitingIn(partitions: number[], limit: number): Promise<Waiting[]>;
  waitingOf(partner_id: string, partitions: number[], limit: number): Promise<Waiting[]>;
  /** Partners that have rows waiting in these partitions. */
  partnersIn(partitions: number[], limit: number): Promise<string[]>;
  /** Rows that were due before `due`, a page at a time in order of their ids. */
  overdue(
    partitions: number[],
    due: Date,
    page: { after: string; limit: number },
  ): Promise<Waiting[]>;
  /** Makes the partner's rows that wait due at `at`; those that have failed stay so. */
  makeDue(partner_id: string, at: Date): Promise<void>;
  /** Makes every row of the partner due now; answers how many there are. */
  requeueAll(partner_id: string, at: Date): Promise<number>;
  counts(): Promise<Record<DeliveryStatus, number>>;
  drain(): Promise<void>;
}

/** Order of arrival; the id tells apart what came in the same millisecond. */
export interface Cursor {
  created_at: Date;
  event_id: string;
}

export const DELIVERIES = 'deliveries';
export const deliveryIndexes: IndexDescription[] = [
  { key: { partner_id: 1, status: 1, created_at: 1, _id: 1 } },
  { key: { status: 1, partition: 1, created_at: 1 } },
  { key: { expires_at: 1 }, expireAfterSeconds: 0 },
];

const collection = (db: Db): Collection<StoredDelivery> => db.collection(DELIVERIES);

/** Each race that was lost is over at the next try, so that more than a few mean something else. */
const RACES_MAX = 5;

const WAITING_FIELDS = {
  partner_id: 1,
  conversation: 1,
  partition: 1,
  order: 1,
  attempts: 1,
  next_attempt_at: 1,
  created_at: 1,
} as const;

export function createDeliveries(db: Db): Deliveries {
  const deliveries = collection(db);
  const writer = createBatchWriter<AnyBulkWriteOperation<StoredDelivery>>(async (operations) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await deliveries.bulkWrite(operations, { ordered: true });
        return;
      } catch (error) {
        // Two replicas put the same row at once. The operations behind it were not carried out, so all of
        // them are done again: each may be repeated.
        if (!isDuplicateKey(error) || attempt === RACES_MAX) throw error;
      }
    }
  });
  const waiting = (filter: object, limit: number): Promise<Waiting[]> =>
    deliveries
      .find({ status: 'retrying', ...filter })
      .project<Waiting>(WAITING_FIELDS)
      .sort({ created_at: 1, order: 1 })
      .limit(limit)
      .toArray();
  return {
    put({ _id, ...fields }) {
      return writer.add({
        updateOne: { filter: { _id }, update: { $setOnInsert: fields }, upsert: true },
      });
    },
    update: (event_id, attempt) =>
      writer.add({ updateOne: { filter: { _id: event_id }, update: { $set: attempt } } }),
    remove: (event_id) => writer.add({ deleteOne: { filter: { _id: event_id } } }),
    find: (event_id) => deliveries.findOne({ _id: event_id }),
    findOf: (partner_id, event_id) => deliveries.findOne({ _id: event_id, partner_id }),
    listOf: (partner_id, statuses, { limit, after }) =>
      deliveries
        .find({
          partner_id,
          status: { $in: statuses },
          ...(after && {
            $or: [
              { created_at: { $gt: after.created_at } },
              { created_at: after.created_at, _id: { $gt: after.event_id } },
            ],
          }),
        })
        .sort({ created_at: 1, _id: 1 })
        .limit(limit)
        .toArray(),
    waitingIn: (partitions, limit) => waiting({ partition: { $in: partitions } }, limit),
    waitingOf: (partner_id, partitions, limit) =>
      waiting({ partner_id, partition: { $in: partitions } }, limit),
    async partnersIn(partitions, limit) {
      const filter = { status: 'retrying' as const, partition: { $in: partitions } };
      return (await deliveries.distinct('partner_id', filter)).slice(0, limit);
    },
    overdue: (partitions, due, { after, limit }) =>
      deliveries
        .find({
          status: 'retrying',
          partition: { $in: partitions },
          next_attempt_at: { $lt: due },
          _id: { $gt: after },
        })
        .project<Waiting>(WAITING_FIELDS)
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    async makeDue(partner_id, at) {
      await deliveries.updateMany(
        { partner_id, status: 'retrying', next_attempt_at: { $gt: at } },
        { $set: { next_attempt_at: at } },
      );
    },
    async requeueAll(partner_id, at) {
      const { matchedCount } = await deliveries.updateMany(
        { partner_id, status: { $in: ['retrying', 'failed'] } },
        { $set: { status: 'retrying', next_attempt_at: at } },
      );
      return matchedCount;
    },
    async counts() {
      const [retrying, failed] = await Promise.all([
        deliveries.countDocuments({ status: 'retrying' }),
        deliveries.countDocuments({ status: 'failed' }),
      ]);
      return { retrying, failed };
    },
    drain: () => writer.drain(),
  };
}
