// The closed months of the ledger. A month is first `closing`: from then on no process changes the records of
// its messages. It is `closed` once its totals are stored.
import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '@bmg/common/mongo';
import { monthEnd } from '../months';

export interface LedgerMonth {
  /** YYYY-MM */
  _id: string;
  status: 'closing' | 'closed';
  closing_at: Date;
  closed_at?: Date;
}

export interface LedgerMonths {
  /** Does nothing for a month that is closing or closed. */
  begin(month: string, at: Date): Promise<void>;
  finish(month: string, at: Date): Promise<void>;
  /** The newest first. */
  list(): Promise<LedgerMonth[]>;
  /** The first moment after the closed months; up to a few seconds old. */
  end(): Promise<Date | undefined>;
}

const CACHED_MS = 2_000;
/** Every process knows of a closing after this time, and has finished the writes that it began before. */
export const SETTLED_AFTER_MS = 60_000;
const MONTHS_MAX = 1_200;

const LEDGER_MONTHS = 'ledger_months';

export function createLedgerMonths(db: Db): LedgerMonths {
  const months: Collection<LedgerMonth> = db.collection(LEDGER_MONTHS);
  let cached: { end: Date | undefined; at: number } | undefined;
  return {
    async begin(month, at) {
      try {
        await months.insertOne({ _id: month, status: 'closing', closing_at: at });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
      cached = undefined;
    },
    async finish(month, at) {
      await months.updateOne(
        { _id: month, status: 'closing' },
        { $set: { status: 'closed', closed_at: at } },
      );
    },
    list: () => months.find().sort({ _id: -1 }).limit(MONTHS_MAX).toArray(),
    async end() {
      // Monotonic clock: a step of the wall clock must not keep an old answer.
      const at = performance.now();
      if (cached && at - cached.at < CACHED_MS) return cached.end;
      const [newest] = await months.find().sort({ _id: -1 }).limit(1).toArray();
      cached = { end: newest && monthEnd(newest._id), at };
      return cached.end;
    },
  };
}
