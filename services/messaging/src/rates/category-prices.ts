// The price of a message before and after a change of its template's category, by market. Pure.
import type { CategoryChange, CategoryPrices } from '@bmg/proto/messaging';
import { dayStart } from '@bmg/common/time';
import { MARKETS, type PriceFinder } from '../pricing';

/** Of the first tier: the volume of an account is not known. */
export function categoryPrices(
  { previous_category, new_category, day }: CategoryChange,
  prices: PriceFinder | undefined,
): CategoryPrices {
  if (!prices) return { markets: [], reason: 'the operator has loaded no rate card' };
  const at = dayStart(day);
  const find = (market: string, category: string) =>
    prices.find(market, category.toLowerCase(), at);
  const rates = MARKETS.flatMap((market) => {
    const rate = find(market, new_category);
    if (!rate) return [];
    const previous = previous_category && find(market, previous_category)?.price;
    const { price, currency } = rate;
    return { currency, prices: { market, new: price, ...(previous && { previous }) } };
  });
  const [first] = rates;
  return first
    ? { currency: first.currency, markets: rates.map((one) => one.prices) }
    : { markets: [], reason: `the rate card has no rate for ${new_category} on ${day}` };
}
