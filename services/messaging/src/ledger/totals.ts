// Totals of the ledger: by number, category, market and day. Pure.
import Big from 'big.js';
import { dayOf, dayStart } from '@bmg/common/time';
import type { LateEntry } from './store/late';
import type { MessageGroup } from './store/entries';
import type { PriceFinder } from '../pricing';
import { priceCharge, times } from './price-charge';

/** Entries that are added up together. */
export interface TotalledGroup {
  phone_number_id: string;
  day: string;
  category: string | null;
  market: string | null;
  messages: number;
  /** Entries for late statuses. */
  late: number;
  charged: number;
  /** Entries whose amount is not known. */
  unpriced: number;
  currency: string | null;
  /** Null if it is not known. */
  amount: string | null;
}

export type Total = ReturnType<Adder['total']>;
export type Totals = ReturnType<typeof totalsOf>;

/** Messages of one group have the same price: rate cards change at the start of a day. */
export function priceGroup(group: MessageGroup, prices: PriceFinder | undefined): TotalledGroup {
  const { phone_number_id, day, category, market, billable, arrived, messages } = group;
  const pricing = {
    ...(category !== null && { category }),
    ...(billable !== null && { billable }),
    ...(market !== null && { market }),
  };
  const { charged, currency, amount } = priceCharge({ pricing, arrived }, dayStart(day), prices);
  return {
    phone_number_id,
    day,
    category,
    market,
    messages,
    late: 0,
    charged: charged ? messages : 0,
    unpriced: amount === null ? messages : 0,
    currency,
    amount: amount === null ? null : times(amount, messages),
  };
}

export const groupOfLate = (entry: LateEntry): TotalledGroup => ({
  phone_number_id: entry.phone_number_id,
  day: dayOf(entry.booked_at),
  category: entry.pricing?.category ?? null,
  market: entry.pricing?.market ?? null,
  messages: 0,
  late: 1,
  charged: entry.charged_change,
  unpriced: entry.amount === null ? 1 : 0,
  currency: entry.currency,
  amount: entry.amount,
});

class Adder {
  private readonly counts = { messages: 0, late: 0, charged: 0, unpriced: 0 };
  private readonly sums = new Map<string, Big>();

  add({ currency, amount, ...group }: TotalledGroup): void {
    for (const key of Object.keys(this.counts) as Array<keyof Adder['counts']>) {
      this.counts[key] += group[key];
    }
    // An amount without a currency is 0 or unknown: neither changes a sum.
    if (currency === null || amount === null) return;
    this.sums.set(currency, (this.sums.get(currency) ?? new Big(0)).plus(amount));
  }

  /** `amounts`: a sum for each currency, in the order of their codes. */
  total() {
    const amounts = [...this.sums]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([currency, sum]) => ({ currency, amount: sum.toFixed() }));
    return { ...this.counts, amounts };
  }
}

export function totalsOf(groups: Iterable<TotalledGroup>) {
  const whole = new Adder();
  const parts = {
    phone_number_id: new Map<string, Adder>(),
    category: new Map<string | null, Adder>(),
    market: new Map<string | null, Adder>(),
    day: new Map<string, Adder>(),
  };
  for (const group of groups) {
    whole.add(group);
    for (const [field, adders] of Object.entries(parts) as Array<
      [keyof typeof parts, Map<string | null, Adder>]
    >) {
      const adder = adders.get(group[field]) ?? new Adder();
      adder.add(group);
      adders.set(group[field], adder);
    }
  }
  return {
    ...whole.total(),
    by_number: rowsOf('phone_number_id', parts.phone_number_id),
    by_category: rowsOf('category', parts.category),
    by_market: rowsOf('market', parts.market),
    by_day: rowsOf('day', parts.day),
  };
}

const rowsOf = <K extends string, V extends string | null>(
  field: K,
  adders: ReadonlyMap<V, Adder>,
): Array<Total & Record<K, V>> =>
  [...adders]
    .sort(([one], [other]) => ((one ?? '') < (other ?? '') ? -1 : 1))
    .map(([value, adder]) => ({ [field]: value, ...adder.total() }) as Total & Record<K, V>);
