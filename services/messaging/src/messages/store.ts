// Stores message records: sends in batches, and the statuses that update them.
import type { Collection, Db } from 'mongodb';
import { createBatchWriter, isDuplicateKey } from '@bmg/common/mongo';
import { metrics } from '@bmg/common/telemetry';
import { messageRecords, type MessageRecord } from './message-record';
import {
  charging,
  completing,
  raising,
  raisingTogether,
  rebuilding,
  superseding,
  type Operation,
  type StatusUpdate,
  isCharging,
  keyOf,
  textOf,
} from './status-writes';
import type { ChargeFacts } from '../pricing';

const COUNT_LIMIT_MS = 1_000;
/** While the database is unavailable, records wait in memory and are retried at this interval. */
const RETRY_MS = 1_000;
/** Minimum time between batches: one more command costs far more than one more document. */
const BATCHES_APART_MS = 4;

/** `check_after_ms`: the age at which gap repair reads a record's missing statuses; 0 is never. */
export function createMessages(db: Db, check_after_ms = 0, closed?: ClosedMonths) {
  const messages = messageRecords(db);
  const checkAt = (sent_at: Date): { check_at?: Date } =>
    check_after_ms === 0 ? {} : { check_at: new Date(sent_at.getTime() + check_after_ms) };
  const bulk = (operations: Operation[]): Promise<number> => writeAll(messages, operations);
  const writer = createBatchWriter<MessageRecord>(
    async (records) => {
      const complete = records.map((record) => ({ ...record, ...checkAt(record.sent_at) }));
      try {
        await messages.insertMany(complete, { ordered: false });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        // Statuses created some of the records first.
        await bulk(records.flatMap(completing));
      }
      metrics.messages_recorded.inc(records.length);
    },
    { retry_ms: RETRY_MS, apart_ms: BATCHES_APART_MS },
  );
  return {
    /** Resolves once the record is stored; concurrent records share one write. */
    record: (message: MessageRecord): Promise<void> => writer.add(message),
    drain: (): Promise<void> => writer.drain(),
    /** Counts the recipients of templates from a partner's account since a time. */
    async countTemplateRecipients(
      { partner_id, waba_id }: Pick<MessageRecord, 'partner_id' | 'waba_id'>,
      since: Date,
    ): Promise<number> {
      const [counted] = await messages
        .aggregate<{ people: number }>(
          [
            { $match: { partner_id, waba_id, sent_at: { $gte: since }, kind: 'template' } },
            { $group: { _id: '$recipient' } },
            { $group: { _id: null, people: { $sum: 1 } } },
          ],
          { maxTimeMS: COUNT_LIMIT_MS },
        )
        .toArray();
      return counted?.people ?? 0;
    },
    findByRequest: (
      { partner_id, phone_number_id }: Pick<MessageRecord, 'partner_id' | 'phone_number_id'>,
      request_id: string,
    ): Promise<MessageRecord | null> =>
      messages.findOne({ partner_id, phone_number_id, _id: request_id }),
    /** The records of these requests, with the traces of their sends only. */
    tracesOf: (request_ids: string[]): Promise<Array<Pick<MessageRecord, '_id' | 'send'>>> =>
      messages
        .find({ _id: { $in: request_ids } })
        .project<Pick<MessageRecord, '_id' | 'send'>>({ 'send.trace_id': 1, 'send.span_id': 1 })
        .toArray(),
    async applyStatuses(updates: StatusUpdate[]): Promise<void> {
      const closed_until = await closed?.end();
      // Nearly always the record exists and its status rises.
      if ((await bulk(raisingTogether(updates, closed_until))) === 0) return;
      // All again, each separately: those that were written change nothing now.
      const unmatched = await bulk(
        updates.flatMap((update) => [
          ...rebuilding(update, checkAt(update.at), closed_until),
          raising(update, closed_until),
        ]),
      );
      if (unmatched === 0) return;
      // Repeated statuses, statuses that came after a higher one, and statuses of closed months.
      const late = closed_until ? await findLate(messages, updates, closed_until) : [];
      if (late.length > 0) {
        await closed?.addLate(late);
        await bulk(late.map(({ update: { charge: _charge, ...status } }) => raising(status)));
      }
      await bulk(
        updates.flatMap((update) => [superseding(update), ...charging(update, closed_until)]),
      );
    },
  };
}

export type Messages = ReturnType<typeof createMessages>;

/** Returns how many operations found no record. */
async function writeAll(
  messages: Collection<MessageRecord>,
  operations: Operation[],
): Promise<number> {
  if (operations.length === 0) return 0;
  try {
    const done = await messages.bulkWrite(operations, { ordered: false });
    return operations.length - done.matchedCount - done.upsertedCount;
  } catch (error) {
    // A concurrent upsert has stored the same id.
    if (!isDuplicateKey(error)) throw error;
    return operations.length;
  }
}

/** A closed month never changes: later statuses are booked in the current month. */
export interface ClosedMonths {
  /** The first moment after the closed months; undefined if none is closed. */
  end(): Promise<Date | undefined>;
  /** Books statuses of messages that were sent in a closed month, in order. */
  addLate(late: LateStatus[]): Promise<void>;
}

export interface LateStatus {
  record: MessageRecord;
  update: StatusUpdate & { charge: ChargeFacts };
}

/** The statuses with a price whose message was sent before `closed_until`. */
async function findLate(
  messages: Collection<MessageRecord>,
  updates: StatusUpdate[],
  closed_until: Date,
): Promise<LateStatus[]> {
  const charging = updates.filter(isCharging);
  if (charging.length === 0) return [];
  const sent_at = { $lt: closed_until };
  const phone_number_id = { $in: charging.map((update) => update.phone_number_id) };
  const ours = charging.flatMap(({ rebuild }) => rebuild ?? []);
  const partner_id = { $in: ours.map((rebuild) => rebuild.partner_id) };
  const ids = { $in: ours.map(({ _id }) => _id) };
  const message_id = {
    $in: charging.flatMap((update) => (update.rebuild ? [] : [update.message_id])),
  };
  const records = (
    await Promise.all([
      messages.find({ partner_id, phone_number_id, _id: ids, sent_at }).toArray(),
      messages.find({ phone_number_id, message_id, sent_at }).toArray(),
    ])
  ).flat();
  const byKey = new Map(
    records.flatMap((record) => [
      [textOf(keyOf({ ...record, rebuild: record })), record],
      [textOf(keyOf(record)), record],
    ]),
  );
  return charging.flatMap((update) => {
    const record = byKey.get(textOf(keyOf(update)));
    return record ? [{ record, update }] : [];
  });
}
