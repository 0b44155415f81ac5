// The amount of a charge, from the rate card. Amounts are decimal text, added without rounding.
// Pure.
import Big from 'big.js';
import { type ChargeFacts, isCharged, type PriceFinder } from '../pricing';

export function priceCharge(facts: ChargeFacts, sent_at: Date, prices: PriceFinder | undefined) {
  const { pricing } = facts;
  const charged = isCharged(facts);
  const category = pricing?.category ?? null;
  const found =
    pricing?.market !== undefined && category !== null
      ? prices?.find(pricing.market, rateCategory(category), sent_at)
      : undefined;
  const amount = charged === false ? '0' : charged ? (found?.price ?? null) : null;
  return {
    charged,
    currency: found?.currency ?? null,
    unit_price: found?.price ?? null,
    /**
     * 0 for a message that is not charged; null if the amount is not known, for the reason below.
     */
    amount,
    amount_reason: amount === null ? reasonOf(charged, category, prices) : null,
  };
}

export type PricedCharge = ReturnType<typeof priceCharge>;

/** Rate cards spell `authentication-international` with an underscore. */
const rateCategory = (category: string): string => category.replaceAll('-', '_');

function reasonOf(
  charged: boolean | null,
  category: string | null,
  prices: PriceFinder | undefined,
): string {
  if (charged === null) return 'the upstream did not report whether the message is billable';
  if (category === null) return 'the upstream named no category';
  return prices
    ? `the rate card has no rate for ${category} in this market on that day`
    : 'the operator has loaded no rate card';
}

export const times = (amount: string, count: number): string =>
  new Big(amount).times(count).toFixed();

/** Null if one of the two is unknown. */
export const difference = (amount: string | null, less: string | null): string | null =>
  amount === null || less === null ? null : new Big(amount).minus(less).toFixed();
