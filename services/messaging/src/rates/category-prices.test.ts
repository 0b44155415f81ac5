import { categoryPrices } from './list-prices';
import { createPriceFinder } from '../pricing/rate-card';

const rate = (market: string, category: string, price: string, valid_from = '2026-01-01') => ({
  market,
  category,
  tier_from: 0,
  tier_to: null,
  valid_from,
  price,
});
const PRICES = createPriceFinder({
  currency: 'USD',
  rates: [
    rate('Germany', 'utility', '0.055'),
    rate('Germany', 'marketing', '0.1365'),
    rate('Germany', 'marketing', '0.15', '2026-10-01'),
    rate('Brazil', 'marketing', '0.0625'),
  ],
});
const CHANGE = { previous_category: 'UTILITY', new_category: 'MARKETING', day: '2026-09-30' };

test('compares the rates of both categories in every market with one for the new category', () => {
  expect(categoryPrices(CHANGE, PRICES)).toEqual({
    currency: 'USD',
    markets: [
      { market: 'Brazil', new: '0.0625' },
      { market: 'Germany', previous: '0.055', new: '0.1365' },
    ],
  });
});

test('takes the rates of the day of the change', () => {
  const { markets } = categoryPrices({ ...CHANGE, day: '2026-10-01' }, PRICES);
  expect(markets).toContainEqual({ market: 'Germany', previous: '0.055', new: '0.15' });
});

test.each([
  ['without a rate card', CHANGE, undefined, 'the operator has loaded no rate card'],
  [
    'before the first day of the card',
    { ...CHANGE, day: '2025-12-31' },
    PRICES,
    'the rate card has no rate for MARKETING on 2025-12-31',
  ],
  [
    'for a category without rates',
    { ...CHANGE, new_category: 'NEWS' },
    PRICES,
    'the rate card has no rate for NEWS on 2026-09-30',
  ],
])('gives the reason for missing prices %s', (_name, change, prices, reason) => {
  expect(categoryPrices(change, prices)).toEqual({ markets: [], reason });
});
