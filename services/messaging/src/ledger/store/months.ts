// The closed months of the ledger. A month is first `closing`: from then on no process changes the
// records of its messages. It is `closed` once its totals are stored.
import type { Collection, Db, IndexDescription } from 'mongodb';
import { storeOnce } from '@bmg/common/mongo';
import { monthEnd, LEDGER_KEPT_DAYS } from '../months';
import { dayStart } from '@bmg/common/time';
import type { TotalledGroup } from '../totals';
import type { LedgerScope } from './entries';

export interface LedgerMonth {
  /** YYYY-MM */
  _id: string;
  status: 'closing' | 'closed';
  closing_at: Date;
  closed_at?: Date;
}

const CACHED_MS = 2_000;
/** After this time every process knows of a closing, and has finished its earlier writes. */
export const SETTLED_AFTER_MS = 60_000;
const MONTHS_MAX = 1_200;

const LEDGER_MONTHS = 'ledger_months';

export function createLedgerMonths(db: Db) {
  const months: Collection<LedgerMonth> = db.collection(LEDGER_MONTHS);
  let cached: { end: Date | undefined; at: number } | undefined;
  return {
    /** Does nothing for a month that is closing or closed. */
    async begin(month: string, at: Date): Promise<void> {
      await storeOnce(() => months.insertOne({ _id: month, status: 'closing', closing_at: at }));
      cached = undefined;
    },
    async finish(month: string, at: Date): Promise<void> {
      await months.updateOne(
        { _id: month, status: 'closing' },
        { $set: { status: 'closed', closed_at: at } },
      );
    },
    /** The newest first. */
    list: (): Promise<LedgerMonth[]> => months.find().sort({ _id: -1 }).limit(MONTHS_MAX).toArray(),
    /** The first moment after the closed months; up to a few seconds old. */
    async end(): Promise<Date | undefined> {
      // Monotonic clock: a step of the wall clock must not keep an old answer.
      const at = performance.now();
      if (cached && at - cached.at < CACHED_MS) return cached.end;
      const [newest] = await months.find().sort({ _id: -1 }).limit(1).toArray();
      cached = { end: newest && monthEnd(newest._id), at };
      return cached.end;
    },
  };
}

export type LedgerMonths = ReturnType<typeof createLedgerMonths>;

export interface LedgerDay {
  partner_id: string;
  waba_id: string;
  /** YYYY-MM-DD */
  day: string;
  groups: TotalledGroup[];
}

type StoredDay = LedgerDay & { _id: string; day_at: Date };

const DAY_S = 86_400;

export const LEDGER_DAYS = 'ledger_days';
export const ledgerDayIndexes: IndexDescription[] = [
  { key: { partner_id: 1, day: 1 } },
  { key: { day_at: 1 }, expireAfterSeconds: LEDGER_KEPT_DAYS * DAY_S },
];

export function createLedgerDays(db: Db) {
  const collection: Collection<StoredDay> = db.collection(LEDGER_DAYS);
  return {
    /** Replaces the totals that an interrupted closing stored. */
    async put(days: LedgerDay[]): Promise<void> {
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
    /** The totals hold no broadcasts. */
    async find(
      { partner_id, waba_id, phone_number_id }: Omit<LedgerScope, 'request_id_prefix'>,
      days: readonly string[],
    ): Promise<LedgerDay[]> {
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
