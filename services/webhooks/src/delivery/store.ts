// The collection `deliveries`: deliveries that a receiver refused, or that were persisted because
// their receiver is slow. A row is removed once the delivery is done; a failed one expires.
import type { AnyBulkWriteOperation, Collection, Db, Filter } from 'mongodb';
import {
  createBatchWriter,
  deleteInPages,
  isDuplicateKey,
  LONG_CURSOR,
  type Indexes,
} from '@bmg/common/mongo';
import type { ReceiverName } from './receiver-key';
import { deliveryMachine, type DeliveryStatus } from './retry-schedule';

export interface StoredDelivery {
  /**
   * The event id, the same for every attempt and every upstream repetition; followed by the
   * endpoint's unless it goes to the webhook URL.
   */
  _id: string;
  partner_id: string;
  /** Absent for the partner's webhook URL. */
  endpoint_id?: string;
  event: string;
  waba_id: string;
  phone_number_id: string | null;
  conversation: string;
  /** The Kafka partition of its message. The replica that consumes it also retries the delivery. */
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

export type DeliveryState = Pick<StoredDelivery, 'status' | 'attempts'>;
export type OldestDelivery = Pick<StoredDelivery, '_id' | 'partner_id' | 'created_at'>;

/** Position among the overdue rows. */
export type Overdue = Pick<WaitingDelivery, '_id' | 'next_attempt_at'>;

/** Position in order of arrival; the id orders deliveries of the same millisecond. */
export interface Cursor {
  created_at: Date;
  event_id: string;
}

export const DELIVERIES = 'deliveries';
export const deliveryIndexes: Indexes = {
  [DELIVERIES]: [
    { key: { partner_id: 1, status: 1, created_at: 1, _id: 1 } },
    // The order in which waiting deliveries are loaded, of all receivers and of one.
    { key: { status: 1, partition: 1, created_at: 1, order: 1 } },
    { key: { partner_id: 1, endpoint_id: 1, status: 1, partition: 1, created_at: 1, order: 1 } },
    { key: { status: 1, partition: 1, partner_id: 1 } },
    { key: { status: 1, partition: 1, next_attempt_at: 1, _id: 1 } },
    { key: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
};

/** A lost race ends with the next write, so repeated duplicate keys mean another fault. */
const WRITES_MAX = 5;

/** Few, because the driver holds a whole batch in memory; a body has up to some MiB. */
const LIST_BATCH = 10;

/** Rows that one command returns. The database reads their bodies too, to leave them out. */
const WAITING_BATCH = 1_000;

/**
 * Rows that one command updates: a database holds up other writes for as long as a command takes.
 * On two cores that is some 20 ms.
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

export type Deliveries = ReturnType<typeof createDeliveries>;

export function createDeliveries(db: Db) {
  const deliveries: Collection<StoredDelivery> = db.collection(DELIVERIES);
  return {
    ...writesOf(deliveries),
    ...backlogOf(deliveries),
    ...readsOf(deliveries),
    ...changesOf(deliveries),
  };
}

/** Writes of single rows, in their order. */
function writesOf(deliveries: Collection<StoredDelivery>) {
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
  return {
    /** Inserts a row; an existing one is unchanged. Resolves once stored. */
    put: ({ _id, ...fields }: StoredDelivery): Promise<void> =>
      writer.add({
        updateOne: { filter: { _id }, update: { $setOnInsert: fields }, upsert: true },
      }),
    /** Records an attempt; does nothing if the row was removed. */
    update: (event_id: string, record: AttemptRecord): Promise<void> =>
      writer.add({ updateOne: { filter: { _id: event_id }, update: { $set: record } } }),
    remove: (event_id: string): Promise<void> =>
      writer.add({ deleteOne: { filter: { _id: event_id } } }),
    /** Resolves when every write is done. */
    drain: writer.drain,
  };
}

/** The `retrying` rows, for the dispatcher. */
function backlogOf(deliveries: Collection<StoredDelivery>) {
  const waiting = (filter: Filter<StoredDelivery>, limit: number) =>
    deliveries
      .find({ status: 'retrying', ...filter })
      .project<WaitingDelivery>(WAITING_FIELDS)
      .limit(limit);
  const inOrder = (filter: Filter<StoredDelivery>, limit: number): Promise<WaitingDelivery[]> =>
    waiting(filter, limit).sort({ created_at: 1, order: 1 }).batchSize(WAITING_BATCH).toArray();
  return {
    /** The rows of these partitions, in order of arrival. */
    waitingIn: (partitions: number[], limit: number) =>
      inOrder({ partition: { $in: partitions } }, limit),
    waitingOf: (of: ReceiverName, partitions: number[], limit: number) =>
      inOrder({ ...rowsOf(of), partition: { $in: partitions } }, limit),
    /** The endpoints of the partner that have rows. */
    async endpointsOf(partner_id: string): Promise<string[]> {
      const ids = await deliveries.distinct('endpoint_id', {
        partner_id,
        status: 'retrying',
        endpoint_id: { $exists: true },
      });
      return ids.filter((one) => typeof one === 'string');
    },
    /** Partners with rows in these partitions. */
    async partnersIn(partitions: number[], limit: number): Promise<string[]> {
      const filter = { status: 'retrying' as const, partition: { $in: partitions } };
      return (await deliveries.distinct('partner_id', filter)).slice(0, limit);
    },
    /** Rows that were due before `due`, by page, those that are due the longest first. */
    overdue(
      partitions: number[],
      due: Date,
      { after, limit }: { after: Overdue | undefined; limit: number },
    ): Promise<WaitingDelivery[]> {
      const filter = {
        partition: { $in: partitions },
        next_attempt_at: { $lt: due },
        ...(after && behind('next_attempt_at', after.next_attempt_at, after._id)),
      };
      return waiting(filter, limit).sort({ next_attempt_at: 1, _id: 1 }).toArray();
    },
    /** The oldest row, of all partners. */
    async oldest(): Promise<OldestDelivery | undefined> {
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
  };
}

function readsOf(deliveries: Collection<StoredDelivery>) {
  const countsIn = async (
    filter: Filter<StoredDelivery>,
  ): Promise<Record<DeliveryStatus, number>> => {
    const [retrying, failed] = await Promise.all([
      deliveries.countDocuments({ ...filter, status: 'retrying' }),
      deliveries.countDocuments({ ...filter, status: 'failed' }),
    ]);
    return { retrying, failed };
  };
  return {
    find: (event_id: string) => deliveries.findOne({ _id: event_id }),
    /** The rows of those events that have one, by event id. */
    async findEach(event_ids: string[]): Promise<Map<string, DeliveryState>> {
      const found = deliveries
        .find({ _id: { $in: event_ids } })
        .project<DeliveryState & { _id: string }>({ status: 1, attempts: 1 });
      return new Map(await found.map((row) => [row._id, row] as const).toArray());
    },
    /** Null also for another partner's delivery. */
    findOf: (partner_id: string, event_id: string) =>
      deliveries.findOne({ _id: event_id, partner_id }),
    /**
     * The partner's deliveries in these statuses, oldest first: up to `limit`, and at least one,
     * but no more than have `bytes` of bodies.
     */
    async listOf(
      partner_id: string,
      statuses: DeliveryStatus[],
      { limit, bytes, after }: { limit: number; bytes: number; after: Cursor | undefined },
    ): Promise<{ rows: StoredDelivery[]; has_more: boolean }> {
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
    counts: () => countsIn({}),
    /** Rows of the receiver, by status. */
    countsOf: (of: ReceiverName) => countsIn(rowsOf(of)),
    countOf: (partner_id: string, statuses: DeliveryStatus[]): Promise<number> =>
      deliveries.countDocuments({ partner_id, status: { $in: statuses } }),
    /** Deliveries to the webhook URL since a time that were attempted and not accepted. */
    countRefused: (partner_id: string, since: Date): Promise<number> =>
      deliveries.countDocuments({
        partner_id,
        status: { $in: ['retrying', 'failed'] },
        endpoint_id: NO_ENDPOINT,
        created_at: { $gte: since },
        attempts: { $gte: 1 },
      }),
  };
}

/** Changes of many rows at once. */
function changesOf(deliveries: Collection<StoredDelivery>) {
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
  return {
    /** Makes the receiver's `retrying` rows due at `at`; `failed` ones stay failed. */
    async makeDue(of: ReceiverName, at: Date): Promise<void> {
      const waiting = { ...rowsOf(of), status: 'retrying' as const, next_attempt_at: { $gt: at } };
      await updateInPages(waiting, { next_attempt_at: at });
    },
    /** Makes every row of the partner, failed ones too, due at `at`; returns how many are due. */
    async requeueAll(partner_id: string, at: Date): Promise<number> {
      const status = deliveryMachine.to('requeue');
      const waiting: Filter<StoredDelivery> = {
        partner_id,
        status: { $in: [...deliveryMachine.from('requeue')] },
        $nor: [{ status, next_attempt_at: { $lte: at } }],
      };
      await updateInPages(waiting, { status, next_attempt_at: at });
      return deliveries.countDocuments({ partner_id, status, next_attempt_at: { $lte: at } });
    },
    /** Deletes the rows of an endpoint that no longer exists. */
    async removeOf(of: ReceiverName): Promise<void> {
      await deleteInPages(deliveries, rowsOf(of));
    },
  };
}
