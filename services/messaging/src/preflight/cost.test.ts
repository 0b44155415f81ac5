import { CostSum, type Price } from './cost';

const aPrice = (overrides: Partial<Price> = {}): Price => ({
  category: 'utility',
  billable: true,
  why: '',
  market: 'Germany',
  currency: 'USD',
  unit_price: '0.0456',
  tier: '0:',
  unit_price_reason: null,
  ...overrides,
});
const total = (...prices: Price[]) => {
  const sum = new CostSum();
  for (const price of prices) sum.add(price);
  return sum.total();
};

test('adds decimals exactly, and counts messages by market', () => {
  const india = aPrice({ market: 'India', unit_price: '0.1' });
  expect(total(aPrice(), india, aPrice(), aPrice())).toEqual({
    category: 'utility',
    currency: 'USD',
    min: '0.2368',
    max: '0.2368',
    billable: 4,
    free: 0,
    unknown: 0,
    reason: null,
    markets: [
      { market: 'Germany', contacts: 3, unit_price: '0.0456' },
      { market: 'India', contacts: 1, unit_price: '0.1' },
    ],
  });
});

test('messages that may be free widen the range, and free ones cost nothing', () => {
  const cost = total(aPrice({ billable: null }), aPrice({ billable: false }), aPrice());
  expect(cost).toMatchObject({ min: '0.0456', max: '0.0912', billable: 1, free: 1, unknown: 1 });
});

test('promises no sum while a billable message has no rate, and gives the reason', () => {
  const unpriced = { currency: null, unit_price: null, unit_price_reason: 'no rate card' };
  expect(total(aPrice(), aPrice(unpriced))).toMatchObject({
    min: null,
    max: null,
    reason: 'no rate card',
  });
  expect(total(aPrice({ ...unpriced, billable: false }))).toMatchObject({ min: '0', reason: null });
});
