// The message records whose statuses are overdue, for gap repair. A replica claims a record by moving its
// `check_at` into the future, so that replicas never request the history of one message at once.
import type { Databases } from '@bmg/common/mongo';
import { hoursOf } from '@bmg/common/time';
import type { Collection } from 'mongodb';
import { type MessageRecord, MESSAGES, type RecordStatus } from '../messages';

export interface OverdueRecords {
  /** The longest due first. */
  due(now: Date, limit: number): Promise<DueRecord[]>;
  /** False if another replica was faster, or a final status has come. */
  claim(record: DueRecord, until: Date): Promise<boolean>;
  /** Moves `check_at` of these records without counting an attempt. */
  postpone(postponed: Array<{ record: DueRecord; until: Date }>): Promise<void>;
  /** Counts an attempt. Without a next time it was the last one. */
  finish(record: DueRecord, next: Date | undefined): Promise<void>;
  /**
   * Makes the unfinished messages of a period due at `at`, because their statuses fell into an outage.
   * Those that are due sooner are unchanged. Resolves to the number of changed records.
   */
  expedite(sent: { from: Date; to: Date }, at: Date): Promise<number>;
}

export type DueRecord = MessageRecord & { check_at: Date };

const UNFINISHED: RecordStatus[] = ['accepted', 'sent', 'delivered'];
const READ_LIMIT_MS = 5_000;

export function createOverdueRecords({ db, background }: Databases): OverdueRecords {
  const messages: Collection<MessageRecord> = db.collection(MESSAGES);
  const own = ({ partner_id, phone_number_id, _id }: DueRecord) => ({
    partner_id,
    phone_number_id,
    _id,
  });
  const same = (record: DueRecord) => ({ ...own(record), check_at: record.check_at });
  return {
    due: async (now, limit) =>
      (await messages
        .find({ check_at: { $lte: now } }, { maxTimeMS: READ_LIMIT_MS })
        .sort({ check_at: 1 })
        .limit(limit)
        .toArray()) as DueRecord[],
    async claim(record, until) {
      const { matchedCount } = await messages.updateOne(same(record), {
        $set: { check_at: until },
      });
      return matchedCount === 1;
    },
    async postpone(postponed) {
      if (postponed.length === 0) return;
      await messages.bulkWrite(
        postponed.map(({ record, until }) => ({
          updateOne: { filter: same(record), update: { $set: { check_at: until } } },
        })),
        { ordered: false },
      );
    },
    async finish(record, next) {
      // A final status that came meanwhile has removed `check_at`.
      await messages.updateOne(
        { ...own(record), check_at: { $exists: true } },
        next
          ? { $set: { check_at: next }, $inc: { checks: 1 } }
          : { $unset: { check_at: true }, $inc: { checks: 1 } },
      );
    },
    async expedite(sent, at) {
      let changed = 0;
      for (const { from, to } of hoursOf(sent)) {
        const { modifiedCount } = await background.collection<MessageRecord>(MESSAGES).updateMany(
          {
            sent_at: { $gte: from, $lt: to },
            status: { $in: UNFINISHED },
            check_at: { $not: { $lte: at } },
          },
          { $set: { check_at: at, checks: 0 } },
        );
        changed += modifiedCount;
      }
      return changed;
    },
  };
}
