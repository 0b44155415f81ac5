// The prices of messages for partners: on a day by country and category, and before and after a
// change of a template's category. Pure.
import { invalidField } from '@bmg/common/errors';
import { dayOf, dayStart, isDay } from '@bmg/common/time';
import type {
  ListPricesRequest,
  ListPricesResponse,
  CategoryChange,
  CategoryPrices,
} from '@bmg/proto/messaging';
import {
  billingOf,
  CATEGORIES,
  countriesOf,
  marketOfCountry,
  MARKETS,
  type PriceFinder,
} from '../pricing';

/** Pure. `prices` is undefined without a rate card. A wrong field is refused by its name. */
export function listPrices(
  { country, category, day }: ListPricesRequest,
  prices: PriceFinder | undefined,
  now: Date,
): ListPricesResponse {
  const markets = country === undefined ? MARKETS : [marketFor(country)];
  const categories = category === undefined ? CATEGORIES : [categoryFor(category)];
  if (day !== undefined && !isDay(day)) {
    throw invalidField('date', 'is not a day of the calendar: send one such as 2026-10-01');
  }
  const on = day ?? dayOf(now);
  if (!prices) return { day: on, prices: [], reason: 'the operator has loaded no rate card' };
  const found = markets.flatMap((market) =>
    categories.flatMap((one) =>
      prices.tiers(market, one, on).map((rate) => ({ market, category: one, ...rate })),
    ),
  );
  const [first] = found;
  if (!first) {
    return { day: on, prices: [], reason: `the rate card has no such rate on ${on}` };
  }
  return {
    day: on,
    currency: first.currency,
    prices: found.map(({ currency: _same, ...rate }) => ({
      ...rate,
      countries: countriesOf(rate.market),
      billable_in_window: isBillableInWindow(rate.category, on),
    })),
  };
}

function marketFor(country: string): string {
  const market = marketOfCountry(country);
  if (market !== undefined) return market;
  throw invalidField(
    'country',
    'is not a country: send two letters such as BR, an English name such as Brazil, or a market',
  );
}

function categoryFor(text: string): string {
  const category = text.toLowerCase().replaceAll('-', '_');
  if (CATEGORIES.includes(category)) return category;
  throw invalidField('category', `must be one of ${CATEGORIES.join(', ')}`);
}

/** The rules know one category of authentication; a rate card has two. */
const isBillableInWindow = (category: string, day: string): boolean =>
  billingOf({
    category: category.startsWith('authentication') ? 'authentication' : category,
    at: dayStart(day),
    window: 'open',
    entry_point: 'closed',
  }).billable === true;

/** Compares prices of the first tier: the volume of an account is not known. */
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
