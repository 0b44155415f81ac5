// Message records: one document per send, written in batches and updated by status events.
import type { AnyBulkWriteOperation, Collection, Db, IndexDescription } from 'mongodb';
import { statusesBelow, type MessageStatus } from '@bmg/common/messages';
import { createBatchWriter, isDuplicateKey } from '@bmg/common/mongo';
import { metrics } from '@bmg/common/telemetry';

/** A record starts as `accepted`; a status raises it and never lowers it. */
export type RecordStatus = 'accepted' | MessageStatus;

export interface MessageRecord {
  /** Our request id, which the upstream echoes in biz_opaque_callback_data. */
  _id: string;
  partner_id: string;
  waba_id: string;
  phone_number_id: string;
  message_id: string;
  kind: string;
  recipient: string;
  status: RecordStatus;
  sent_at: Date;
  updated_at: Date;
}

export interface StatusUpdate {
  message_id: string;
  status: MessageStatus;
  at: Date;
  /** Creates the record if a crash prevented the send from storing it. */
  rebuild?: Pick<MessageRecord, '_id' | 'partner_id' | 'waba_id' | 'phone_number_id' | 'recipient'>;
}

export interface Messages {
  /** Resolves once the record is stored; concurrent records share one write. */
  record(message: MessageRecord): Promise<void>;
  find(phone_number_id: string, message_id: string): Promise<MessageRecord | null>;
  findByRequest(request_id: string): Promise<MessageRecord | null>;
  applyStatuses(updates: StatusUpdate[]): Promise<void>;
  /** How many customers a partner's templates of an account went to since a time. */
  countTemplateRecipients(scope: AccountScope, since: Date): Promise<number>;
  drain(): Promise<void>;
}

export interface AccountScope {
  partner_id: string;
  waba_id: string;
}

const COUNT_LIMIT_MS = 1_000;

/** The kind of a record created from a status, which does not tell what was sent. */
const REBUILT = 'unknown';
/** While the database is unavailable, records wait in memory and are retried at this interval. */
const RETRY_MS = 1_000;
/** Minimum time between batches: one more command costs far more than one more document. */
const BATCHES_APART_MS = 4;
const KEPT_DAYS = 90;
const DAY_S = 86_400;

export const MESSAGES = 'messages';
export const messageIndexes: IndexDescription[] = [
  { key: { message_id: 1 } },
  { key: { sent_at: 1 }, expireAfterSeconds: KEPT_DAYS * DAY_S },
];

const collection = (db: Db): Collection<MessageRecord> => db.collection(MESSAGES);

export function createMessages(db: Db): Messages {
  const messages = collection(db);
  const bulk = async (operations: AnyBulkWriteOperation<MessageRecord>[]): Promise<void> => {
    if (operations.length === 0) return;
    try {
      await messages.bulkWrite(operations, { ordered: false });
    } catch (error) {
      // A concurrent upsert has stored the same id.
      if (!isDuplicateKey(error)) throw error;
    }
  };
  const writer = createBatchWriter<MessageRecord>(
    async (records) => {
      try {
        await messages.insertMany(records, { ordered: false });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        // A status event created some of the records first: keep its status, fill in the other fields.
        await bulk(
          records.map(({ _id, status: _status, ...fields }) => ({
            updateOne: { filter: { _id, kind: REBUILT }, update: { $set: fields } },
          })),
        );
      }
      metrics.messages_recorded.inc(records.length);
    },
    { retry_ms: RETRY_MS, apart_ms: BATCHES_APART_MS },
  );
  return {
    record: (message) => writer.add(message),
    drain: () => writer.drain(),
    find: (phone_number_id, message_id) => messages.findOne({ message_id, phone_number_id }),
    async countTemplateRecipients({ partner_id, waba_id }, since) {
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
    findByRequest: (request_id) => messages.findOne({ _id: request_id }),
    async applyStatuses(updates) {
      await bulk(
        updates.flatMap(({ message_id, status, at, rebuild }) => {
          const lower: RecordStatus[] = ['accepted', ...statusesBelow(status)];
          const operations: AnyBulkWriteOperation<MessageRecord>[] = [];
          if (rebuild) {
            const { _id, ...fields } = rebuild;
            operations.push({
              updateOne: {
                filter: { _id },
                update: {
                  $setOnInsert: {
                    ...fields,
                    message_id,
                    kind: REBUILT,
                    status: 'accepted',
                    sent_at: at,
                    updated_at: at,
                  },
                },
                upsert: true,
              },
            });
          }
          operations.push({
            updateOne: {
              filter: rebuild
                ? { _id: rebuild._id, status: { $in: lower } }
                : { message_id, status: { $in: lower } },
              update: { $set: { status, updated_at: at } },
            },
          });
          return operations;
        }),
      );
    },
  };
}
