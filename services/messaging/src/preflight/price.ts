// The price of one message, from the rules in force at its time and the operator's rate card. Pure.
import { billingOf, marketOf, type PriceFinder } from '../pricing';
import type { Window } from '../contacts';

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

export interface PriceRequest {
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
