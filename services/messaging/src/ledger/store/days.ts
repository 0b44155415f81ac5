// The totals of closed months, by partner, account and day. They outlive the message records.
import { dayStart } from '@bmg/common/time';
import type { Collection, Db, IndexDescription } from 'mongodb';
import { LEDGER_KEPT_DAYS } from '../months';
import type { TotalledGroup } from '../totals';
import type { LedgerScope } from './entries';

export interface LedgerDay {
  partner_id: string;
  waba_id: string;
  /** YYYY-MM-DD */
  day: string;
  groups: TotalledGroup[];
}

export interface LedgerDays {
  /** Replaces the totals that an interrupted closing stored. */
  put(days: LedgerDay[]): Promise<void>;
  /** The totals hold no broadcasts. */
  find(
    scope: Omit<LedgerScope, 'request_id_prefix'>,
    days: readonly string[],
  ): Promise<LedgerDay[]>;
}

type StoredDay = LedgerDay & { _id: string; day_at: Date };

const DAY_S = 86_400;

export const LEDGER_DAYS = 'ledger_days';
export const ledgerDayIndexes: IndexDescription[] = [
  { key: { partner_id: 1, day: 1 } },
  { key: { day_at: 1 }, expireAfterSeconds: LEDGER_KEPT_DAYS * DAY_S },
];

export function createLedgerDays(db: Db): LedgerDays {
  const collection: Collection<StoredDay> = db.collection(LEDGER_DAYS);
  return {
    async put(days) {
      if (days.length === 0) return;
      await collection.bulkWrite(
        days.map((one) => ({
          replaceOne: {
            filter: { _id: `${one.partner_id}/${one.waba_id}/${one.day}` },
            replacement: { ...one, day_at: dayStart(one.day) },
            upsert: true,
          },
        })),
        { ordered: false },
      );
    },
    async find({ partner_id, waba_id, phone_number_id }, days) {
      if (days.length === 0) return [];
      const found = await collection
        .find({ partner_id, day: { $in: [...days] }, ...(waba_id !== undefined && { waba_id }) })
        .toArray();
      return phone_number_id === undefined
        ? found
        : found.map((one) => ({
            ...one,
            groups: one.groups.filter((group) => group.phone_number_id === phone_number_id),
          }));
    },
  };
}
