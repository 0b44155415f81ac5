// The collection `deliveries`: deliveries that a receiver refused, or that were persisted because
// their receiver is slow. A row is removed once the delivery is done; a failed one expires.
import type { AnyBulkWriteOperation, Collection, Db, Filter, IndexDescription } from 'mongodb';
import { createBatchWriter, deleteInPages, isDuplicateKey, LONG_CURSOR } from '@bmg/common/mongo';
import type { ReceiverName } from './receiver-key';
import { deliveryMachine, type DeliveryStatus } from './retry-schedule';

export interface StoredDelivery {
  /**
   * The event id, the same for every attempt and every upstream repetition; followed by the endpoint's
   * unless it goes to the webhook URL.
   */
  _id: string;
  partner_id: string;
  /** Absent for the partner's webhook URL. */
  endpoint_id?: string;
  event: string;
  waba_id: string;
  phone_number_id: string | null;
  conversation: string;
  /**
   * The Kafka partition of its message: the replica that consumes the partition also retries it.
   */
  partition: number;
  /** The Kafka offset of its message: the order within a conversation. */
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

/** The fields of a stored delivery that the dispatcher keeps in memory. */
export type WaitingDelivery = Pick<
  StoredDelivery,
  | '_id'
  | 'partner_id'
  | 'endpoint_id'
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
  /** Inserts a row; an existing one is unchanged. Resolves once stored. */
  put(delivery: StoredDelivery): Promise<void>;
  /** Records an attempt; does nothing if the row was removed. */
  update(event_id: string, record: AttemptRecord): Promise<void>;
  remove(event_id: string): Promise<void>;
  find(event_id: string): Promise<StoredDelivery | null>;
  /** The rows of those events that have one, by event id. */
  findEach(event_ids: string[]): Promise<Map<string, Pick<StoredDelivery, 'status' | 'attempts'>>>;
  /** Null also for another partner's delivery. */
  findOf(partner_id: string, event_id: string): Promise<StoredDelivery | null>;
  /**
   * The partner's deliveries in these statuses, oldest first: up to `limit`, and at least one, but no
   * more than have `bytes` of bodies.
   */
  listOf(
    partner_id: string,
    statuses: DeliveryStatus[],
    page: { limit: number; bytes: number; after: Cursor | undefined },
  ): Promise<{ rows: StoredDelivery[]; has_more: boolean }>;
  countOf(partner_id: string, statuses: DeliveryStatus[]): Promise<number>;
  /** Deliveries to the webhook URL since a time that were attempted and not accepted. */
  countRefused(partner_id: string, since: Date): Promise<number>;
  /** For the dispatcher: `retrying` rows of these partitions, in order of arrival. */
  waitingIn(partitions: number[], limit: number): Promise<WaitingDelivery[]>;
  waitingOf(of: ReceiverName, partitions: number[], limit: number): Promise<WaitingDelivery[]>;
  /** The endpoints of the partner that have `retrying` rows. */
  endpointsOf(partner_id: string): Promise<string[]>;
  /** Partners with `retrying` rows in these partitions. */
  partnersIn(partitions: number[], limit: number): Promise<string[]>;
  /** `retrying` rows that were due before `due`, by page, those that are due the longest first. */
  overdue(
    partitions: number[],
    due: Date,
    page: { after: Overdue | undefined; limit: number },
  ): Promise<WaitingDelivery[]>;
  /** Makes the receiver's `retrying` rows due at `at`; `failed` ones stay failed. */
  makeDue(of: ReceiverName, at: Date): Promise<void>;
  /** Deletes the rows of an endpoint that no longer exists. */
  removeOf(of: ReceiverName): Promise<void>;
  /** Rows of the endpoints, by status. */
  countsOf(of: ReceiverName): Promise<Record<DeliveryStatus, number>>;
  /** Makes every row of the partner, failed ones too, due at `at`; returns how many are due. */
  requeueAll(partner_id: string, at: Date): Promise<number>;
  counts(): Promise<Record<DeliveryStatus, number>>;
  /** The oldest row that is retried, of all partners. */
  oldest(): Promise<OldestDelivery | undefined>;
  /** Resolves when every write is done. */
  drain(): Promise<void>;
}

export type OldestDelivery = Pick<StoredDelivery, '_id' | 'partner_id' | 'created_at'>;

/** Position among the overdue rows. */
export type Overdue = Pick<WaitingDelivery, '_id' | 'next_attempt_at'>;

/** Position in order of arrival; the id orders deliveries of the same millisecond. */
export interface Cursor {
  created_at: Date;
  event_id: string;
}

export const DELIVERIES = 'deliveries';
export const deliveryIndexes: IndexDescription[] = [
  { key: { partner_id: 1, status: 1, created_at: 1, _id: 1 } },
  // The order in which waiting deliveries are loaded, of all receivers and of one.
  { key: { status: 1, partition: 1, created_at: 1, order: 1 } },
  { key: { partner_id: 1, endpoint_id: 1, status: 1, partition: 1, created_at: 1, order: 1 } },
  { key: { status: 1, partition: 1, partner_id: 1 } },
  { key: { status: 1, partition: 1, next_attempt_at: 1, _id: 1 } },
  { key: { expires_at: 1 }, expireAfterSeconds: 0 },
];

/** A lost race ends with the next write, so repeated duplicate keys mean another fault. */
const WRITES_MAX = 5;

/** Few, because the driver holds a whole batch in memory; a body has up to some MiB. */
const LIST_BATCH = 10;

/** Rows that one command returns. The database reads their bodies, too, although it leaves them out. */
const WAITING_BATCH = 1_000;

/**
 * Rows that one command updates: a database holds up other writes for as long as a command takes. On two
 * cores that is some 20 ms.
 */
const UPDATE_BATCH = 100;

const WAITING_FIELDS = {
  partner_id: 1,
  endpoint_id: 1,
  conversation: 1,
  partition: 1,
  order: 1,
  attempts: 1,
  next_attempt_at: 1,
  created_at: 1,
} as const;

/** The filter of rows without the field. */
const NO_ENDPOINT = { $exists: false };

const rowsOf = ({ partner_id, endpoint_id }: ReceiverName): Filter<StoredDelivery> => ({
  partner_id,
  endpoint_id: endpoint_id ?? NO_ENDPOINT,
});

/**
 * The rows behind a position in the order of a time and of the IDs. The first condition lets the
 * index begin there: with the alternatives only, each page would read those before it again.
 */
const behind = (time: string, at: Date | null, _id: string): Filter<StoredDelivery> => ({
  $and: [{ [time]: { $gte: at } }, { $or: [{ [time]: { $gt: at } }, { _id: { $gt: _id } }] }],
});

/** Longer than 70 lines: one short method for each query. */
export function createDeliveries(db: Db): Deliveries {
  const deliveries: Collection<StoredDelivery> = db.collection(DELIVERIES);
  const writer = createBatchWriter<AnyBulkWriteOperation<StoredDelivery>>(async (operations) => {
    for (let writes = 1; ; writes += 1) {
      try {
        await deliveries.bulkWrite(operations, { ordered: true });
        return;
      } catch (error) {
        // Two replicas inserted the same row at once, and the operations after it were not
        // executed. All are idempotent, so the whole batch is written again.
        if (!isDuplicateKey(error) || writes === WRITES_MAX) throw error;
      }
    }
  });
  const waiting = (filter: object, limit: number): Promise<WaitingDelivery[]> =>
    deliveries
      .find({ status: 'retrying', ...filter })
      .project<WaitingDelivery>(WAITING_FIELDS)
      .sort({ created_at: 1, order: 1 })
      .limit(limit)
      .batchSize(WAITING_BATCH)
      .toArray();
  const updateInPages = async (
    selected: Filter<StoredDelivery>,
    changes: Partial<StoredDelivery>,
  ): Promise<void> => {
    const page = { projection: { _id: 1 }, batchSize: UPDATE_BATCH, ...LONG_CURSOR };
    const rows = deliveries.find(selected, page);
    while (await rows.hasNext()) {
      const ids = rows.readBufferedDocuments().map(({ _id }) => _id);
      await deliveries.updateMany({ ...selected, _id: { $in: ids } }, { $set: changes });
    }
  };
  const countsIn = async (filter: Filter<StoredDelivery>) => {
    const [retrying, failed] = await Promise.all([
      deliveries.countDocuments({ ...filter, status: 'retrying' }),
      deliveries.countDocuments({ ...filter, status: 'failed' }),
    ]);
    return { retrying, failed };
  };
  return {
    put({ _id, ...fields }) {
      return writer.add({
        updateOne: { filter: { _id }, update: { $setOnInsert: fields }, upsert: true },
      });
    },
    update: (event_id, record) =>
      writer.add({ updateOne: { filter: { _id: event_id }, update: { $set: record } } }),
    remove: (event_id) => writer.add({ deleteOne: { filter: { _id: event_id } } }),
    find: (event_id) => deliveries.findOne({ _id: event_id }),
    async findEach(event_ids) {
      const found = deliveries
        .find({ _id: { $in: event_ids } })
        .project<Pick<StoredDelivery, '_id' | 'status' | 'attempts'>>({ status: 1, attempts: 1 });
      return new Map(await found.map((row) => [row._id, row] as const).toArray());
    },
    findOf: (partner_id, event_id) => deliveries.findOne({ _id: event_id, partner_id }),
    async listOf(partner_id, statuses, { limit, bytes, after }) {
      const rows: StoredDelivery[] = [];
      let left = bytes;
      // Fetches one extra row to detect more.
      const found = deliveries
        .find({
          partner_id,
          status: { $in: statuses },
          ...(after && behind('created_at', after.created_at, after.event_id)),
        })
        .sort({ created_at: 1, _id: 1 })
        .limit(limit + 1)
        .batchSize(LIST_BATCH);
      for await (const row of found) {
        left -= Buffer.byteLength(row.body);
        if (rows.length === limit || (rows.length > 0 && left < 0)) {
          return { rows, has_more: true };
        }
        rows.push(row);
      }
      return { rows, has_more: false };
    },
    countOf: (partner_id, statuses) =>
      deliveries.countDocuments({ partner_id, status: { $in: statuses } }),
    countRefused: (partner_id, since) =>
      deliveries.countDocuments({
        partner_id,
        status: { $in: ['retrying', 'failed'] },
        endpoint_id: NO_ENDPOINT,
        created_at: { $gte: since },
        attempts: { $gte: 1 },
      }),
    waitingIn: (partitions, limit) => waiting({ partition: { $in: partitions } }, limit),
    waitingOf: (of, partitions, limit) =>
      waiting({ ...rowsOf(of), partition: { $in: partitions } }, limit),
    async endpointsOf(partner_id) {
      const ids = await deliveries.distinct('endpoint_id', {
        partner_id,
        status: 'retrying',
        endpoint_id: { $exists: true },
      });
      return ids.filter((one) => typeof one === 'string');
    },
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
          ...(after && behind('next_attempt_at', after.next_attempt_at, after._id)),
        })
        .project<WaitingDelivery>(WAITING_FIELDS)
        .sort({ next_attempt_at: 1, _id: 1 })
        .limit(limit)
        .toArray(),
    async makeDue(of, at) {
      const waiting = { ...rowsOf(of), status: 'retrying' as const, next_attempt_at: { $gt: at } };
      await updateInPages(waiting, { next_attempt_at: at });
    },
    async removeOf(of) {
      await deleteInPages(deliveries, rowsOf(of));
    },
    countsOf: (of) => countsIn(rowsOf(of)),
    async requeueAll(partner_id, at) {
      const status = deliveryMachine.to('requeue');
      const waiting: Filter<StoredDelivery> = {
        partner_id,
        status: { $in: [...deliveryMachine.from('requeue')] },
        $nor: [{ status, next_attempt_at: { $lte: at } }],
      };
      await updateInPages(waiting, { status, next_attempt_at: at });
      return deliveries.countDocuments({ partner_id, status, next_attempt_at: { $lte: at } });
    },
    counts: () => countsIn({}),
    async oldest() {
      const status = 'retrying';
      const partitions = await deliveries.distinct('partition', { status });
      const projection = { partner_id: 1, created_at: 1 };
      // The index has the order within a partition.
      const options = { projection, sort: { created_at: 1 } } as const;
      const found = await Promise.all(
        partitions.map((partition) =>
          deliveries.findOne<OldestDelivery>({ status, partition }, options),
        ),
      );
      return found
        .flatMap((row) => row ?? [])
        .sort((a, b) => a.created_at.getTime() - b.created_at.getTime())[0];
    },
    drain: () => writer.drain(),
  };
}
