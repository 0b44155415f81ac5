// The total cost of many messages: minimum, maximum and markets. Pure.
import Big from 'big.js';
import type { Price } from './price';

export interface MarketCost {
  market: string;
  contacts: number;
  /** Decimal text; null without a rate. */
  unit_price: string | null;
}

export interface Cost {
  category: string | null;
  currency: string | null;
  /** Decimal texts; null if a message that may be billed has no rate. */
  min: string | null;
  max: string | null;
  billable: number;
  free: number;
  /** Messages whose billing depends on a window of unknown state. */
  unknown: number;
  /** Why `min` and `max` are null. */
  reason: string | null;
  /** The largest market first. */
  markets: MarketCost[];
}

export class CostSum {
  private min = new Big(0);
  private max = new Big(0);
  private readonly counts = { billable: 0, free: 0, unknown: 0 };
  private currency: string | null = null;
  private category: string | null = null;
  private reason: string | null = null;
  private readonly markets = new Map<string, MarketCost>();

  add({ billable, category, currency, market, unit_price, unit_price_reason }: Price): void {
    this.category = category;
    this.counts[billable === null ? 'unknown' : billable ? 'billable' : 'free'] += 1;
    const known = this.markets.get(market);
    if (known) known.contacts += 1;
    else this.markets.set(market, { market, contacts: 1, unit_price });
    if (billable === false) return;
    if (unit_price === null) {
      this.reason ??= unit_price_reason;
      return;
    }
    this.currency = currency;
    this.max = this.max.plus(unit_price);
    if (billable) this.min = this.min.plus(unit_price);
  }

  total(): Cost {
    const { category, currency, reason, counts, markets } = this;
    const priced = reason === null;
    return {
      category,
      currency,
      min: priced ? this.min.toFixed() : null,
      max: priced ? this.max.toFixed() : null,
      ...counts,
      reason,
      markets: [...markets.values()].sort((a, b) => b.contacts - a.contacts),
    };
  }
}
