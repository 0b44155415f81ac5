// The quality rating and the messaging limit of each number by UTC day, for the console's picture
// of them over time. One record per partner, number and day; a later value of the day replaces an
// earlier one.
import type { Collection, Db } from 'mongodb';
import type { Indexes } from '@bmg/common/mongo';
import { dayOf, dayStart } from '@bmg/common/time';
import { clientId, type Client, type NumberScope } from './clients';

export interface NumberDay extends NumberScope {
  _id: string;
  day: string;
  /** Start of the day, for the TTL index. */
  day_at: Date;
  quality_rating: string | null;
  messaging_limit_tier: string | null;
}

type Recorded = NumberScope & Pick<Client, 'quality_rating' | 'messaging_limit_tier'>;

export const NUMBER_DAYS = 'number_days';
const KEPT_DAYS = 400;
export const numberDayIndexes: Indexes = {
  [NUMBER_DAYS]: [
    { key: { partner_id: 1, phone_number_id: 1, day: -1 } },
    { key: { day_at: 1 }, expireAfterSeconds: KEPT_DAYS * 86_400 },
  ],
};

export function createNumberDays(db: Db) {
  const days: Collection<NumberDay> = db.collection(NUMBER_DAYS);
  return {
    /** Stores the facts of the numbers as those of the day of `at`. */
    async record(numbers: readonly Recorded[], at: Date) {
      if (numbers.length === 0) return;
      const day = dayOf(at);
      await days.bulkWrite(
        numbers.map(({ partner_id, waba_id, phone_number_id, ...facts }) => {
          const number = { partner_id, waba_id, phone_number_id };
          const { quality_rating, messaging_limit_tier } = facts;
          return {
            updateOne: {
              filter: { _id: `${clientId(number)}/${day}` },
              update: {
                $set: { quality_rating, messaging_limit_tier },
                $setOnInsert: { ...number, day, day_at: dayStart(day) },
              },
              upsert: true,
            },
          };
        }),
        { ordered: false },
      );
    },
    /** The latest days of a partner's number with a record, the oldest first. */
    async latestOf(
      { partner_id, phone_number_id }: Pick<NumberScope, 'partner_id' | 'phone_number_id'>,
      limit: number,
    ) {
      const newest_first = await days
        .find({ partner_id, phone_number_id }, { sort: { day: -1 }, limit })
        .toArray();
      return newest_first.reverse();
    },
  };
}
