// The message records whose statuses are overdue, for gap repair. A replica claims a record by
// moving its `check_at` into the future, so that replicas never request the history of one message
// at once.
import type { Databases } from '@bmg/common/mongo';
import { hoursOf } from '@bmg/common/time';
import type { Collection } from 'mongodb';
import { type MessageRecord, MESSAGES, type RecordStatus } from '../messages';

export type DueRecord = MessageRecord & { check_at: Date };

const UNFINISHED: RecordStatus[] = ['accepted', 'sent', 'delivered'];
const READ_LIMIT_MS = 5_000;

export function createOverdueRecords({ db, background }: Databases) {
  const messages: Collection<MessageRecord> = db.collection(MESSAGES);
  const own = ({ partner_id, phone_number_id, _id }: DueRecord) => ({
    partner_id,
    phone_number_id,
    _id,
  });
  const same = (record: DueRecord) => ({ ...own(record), check_at: record.check_at });
  return {
    /** The longest due first. */
    due: async (now: Date, limit: number): Promise<DueRecord[]> =>
      (await messages
        .find({ check_at: { $lte: now } }, { maxTimeMS: READ_LIMIT_MS })
        .sort({ check_at: 1 })
        .limit(limit)
        .toArray()) as DueRecord[],
    /** False if another replica was faster, or a final status has come. */
    async claim(record: DueRecord, until: Date): Promise<boolean> {
      const { matchedCount } = await messages.updateOne(same(record), {
        $set: { check_at: until },
      });
      return matchedCount === 1;
    },
    /** Moves `check_at` of these records without counting an attempt. */
    async postpone(postponed: Array<{ record: DueRecord; until: Date }>): Promise<void> {
      if (postponed.length === 0) return;
      await messages.bulkWrite(
        postponed.map(({ record, until }) => ({
          updateOne: { filter: same(record), update: { $set: { check_at: until } } },
        })),
        { ordered: false },
      );
    },
    /** Counts an attempt. Without a next time it was the last one. */
    async finish(record: DueRecord, next: Date | undefined): Promise<void> {
      // A final status that came meanwhile has removed `check_at`.
      await messages.updateOne(
        { ...own(record), check_at: { $exists: true } },
        next
          ? { $set: { check_at: next }, $inc: { checks: 1 } }
          : { $unset: { check_at: true }, $inc: { checks: 1 } },
      );
    },
    /**
     * Makes the unfinished messages of a period due at `at`, because their statuses fell into an
     * outage. Those that are due sooner are unchanged. Resolves to the number of changed records.
     */
    async expedite(sent: { from: Date; to: Date }, at: Date): Promise<number> {
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
