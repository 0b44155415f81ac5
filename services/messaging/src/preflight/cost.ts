// The price of one message, from the rules in force at its time and the operator's rate card, and
// the total cost of many. Pure.
import Big from 'big.js';
import { billingOf, marketOf, type PriceFinder } from '../pricing';
import type { Window } from '../contacts';

interface MarketCost {
  market: string;
  contacts: number;
  /** Decimal text; null without a rate. */
  unit_price: string | null;
}

export class CostSum {
  private min = new Big(0);
  private max = new Big(0);
  /** `unknown`: messages whose billing depends on a window of unknown state. */
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

  /** `markets` has the largest one first. */
  total() {
    const { category, currency, reason, counts, markets } = this;
    const priced = reason === null;
    return {
      category,
      currency,
      /** Decimal texts; null if a message that may be billed has no rate, for the reason below. */
      min: priced ? this.min.toFixed() : null,
      max: priced ? this.max.toFixed() : null,
      ...counts,
      reason,
      markets: [...markets.values()].sort((a, b) => b.contacts - a.contacts),
    };
  }
}

export interface Price {
  category: string;
  /** Null if it is not known. */
  billable: boolean | null;
  why: string;
  market: string;
  currency: string | null;
  /** Decimal text. */
  unit_price: string | null;
  tier: string | null;
  /** Why there is no unit price. */
  unit_price_reason: string | null;
}

interface PriceRequest {
  category: string;
  recipient: string;
  at: Date;
  window: Pick<Window, 'state' | 'entry_point'>;
}

export function priceOf(request: PriceRequest, prices: PriceFinder | undefined): Price {
  const { category, at, window } = request;
  const market = marketOf(request.recipient);
  const found = prices?.find(market, category, at);
  return {
    category,
    ...billingOf({ category, at, window: window.state, entry_point: window.entry_point.state }),
    market,
    currency: found?.currency ?? null,
    unit_price: found?.price ?? null,
    tier: found?.tier ?? null,
    unit_price_reason: found ? null : missingPrice(prices, market, category),
  };
}

const missingPrice = (prices: PriceFinder | undefined, market: string, category: string): string =>
  prices
    ? `the rate card has no rate for ${category} in ${market} on that day`
    : 'the operator has loaded no rate card';
