import {
  costBeside,
  costByDay,
  costOf,
  forecastOf,
  forecastPeriod,
  meanCostOf,
  roughly,
  spentOf,
  sumOf,
} from './money';

const day = (date: string, amount: string) => ({
  day: date,
  amounts: [{ currency: 'USD', amount }],
});
const TENTH = new Date('2026-11-10T12:00:00Z');

test.each([
  [{ charged: 2, amounts: [{ currency: 'USD', amount: '0.30' }] }, '0.30 USD for 2 messages'],
  [
    { charged: 1, unpriced: 2, amounts: [{ currency: 'USD', amount: '0.1' }] },
    '0.1 USD for 1 message, 2 without a price',
  ],
  [{ charged: 1, unpriced: 1 }, 'Not known for 1 message, 1 without a price'],
  [{ amounts: [{ currency: 'USD', amount: '0' }] }, 'Nothing yet'],
])('%j is “%s”', (totals, text) => {
  expect(spentOf({ messages: 3, charged: 0, unpriced: 0, amounts: [], ...totals })).toBe(text);
});

test.each([
  [{ charged: 4, amounts: [{ currency: 'USD', amount: '2.00' }] }, /^about 1\.50 USD, at the mean/],
  [{ charged: 4, unpriced: 1, amounts: [{ currency: 'USD', amount: '2.00' }] }, undefined],
  [{ charged: 0 }, undefined],
])('three messages at the mean of %j cost %s', (totals, text) => {
  const mean = meanCostOf({ messages: 4, unpriced: 0, amounts: [], ...totals }, 3);
  if (text) expect(mean).toMatch(text);
  else expect(mean).toBeUndefined();
});

test('a forecast is the month so far and the mean of the last seven whole days', () => {
  const days = ['03', '04', '05', '06', '07', '08', '09'].map((one) => day(`2026-11-${one}`, '2'));
  // An early day of the month and today count for the sum, not for the mean.
  const found = forecastOf([day('2026-11-01', '7'), ...days, day('2026-11-10', '1')], TENTH);
  expect(found).toEqual([{ currency: 'USD', so_far: 22, per_day: 2, month: 22 + 2 * 20 }]);
});

test('days of the month before count for the mean only', () => {
  const now = new Date('2026-11-02T12:00:00Z');
  const days = [day('2026-10-26', '7'), day('2026-11-01', '7'), day('2026-11-02', '1')];
  expect(forecastOf(days, now)).toEqual([
    { currency: 'USD', so_far: 8, per_day: 2, month: 8 + 2 * 28 },
  ]);
});

test('the mean of a partner that began yesterday or today is over the days since', () => {
  const yesterday = [day('2026-11-09', '3')];
  expect(forecastOf(yesterday, TENTH)[0]).toMatchObject({ so_far: 3, per_day: 3, month: 63 });
  expect(forecastOf([day('2026-11-10', '3')], TENTH)[0]).toMatchObject({ per_day: 3, month: 63 });
  expect(forecastOf([], TENTH)).toEqual([]);
});

test('the period of a forecast has the month and seven days before, at most 31 days', () => {
  expect(forecastPeriod(TENTH)).toEqual({ from: '2026-11-01', to: '2026-11-10' });
  expect(forecastPeriod(new Date('2026-11-02T00:00:00Z')).from).toBe('2026-10-26');
  expect(forecastPeriod(new Date('2026-12-31T23:00:00Z')).from).toBe('2026-12-01');
});

test('writes amounts in words', () => {
  const known = { charged: true, currency: 'USD', amount: '0.0550', reason: null };
  expect(costOf({ cost: known })).toBe('0.0550 USD');
  expect(costOf({ cost: { ...known, charged: false, amount: '0' } })).toBe('free');
  expect(costOf({ cost: { ...known, amount: null, reason: 'no card' } })).toBe('not known');
  expect(costBeside({ cost: { ...known, amount: null, reason: 'no card' } })).toBe(
    'cost not known',
  );
  expect(costBeside({ cost: known })).toBe('0.0550 USD');
  expect(costOf({ cost: null })).toBe('–');
  expect(sumOf({ amounts: [{ currency: 'USD', amount: '6.05' }], unpriced: 2 })).toBe(
    '6.05 USD, 2 without a price',
  );
  expect(sumOf({ amounts: [], unpriced: 0 })).toBe('–');
  expect(roughly(0.05, 'USD')).toBe('0.05 USD');
  expect(roughly(1234.567, 'EUR')).toMatch(/^1.234.57 EUR$/);
});

test('the cost of each day is by currency, with the days without a message', () => {
  const days = ['2026-11-08', '2026-11-09', '2026-11-10'];
  const both = {
    day: '2026-11-10',
    amounts: [
      { currency: 'USD', amount: '0.25' },
      { currency: 'EUR', amount: '1.5' },
    ],
  };
  expect(costByDay([both, day('2026-11-08', '2')], days)).toEqual([
    {
      currency: 'EUR',
      costs: days.map((one, at) => ({ day: one, amount: at === 2 ? 1.5 : 0 })),
    },
    { currency: 'USD', costs: days.map((one, at) => ({ day: one, amount: [2, 0, 0.25][at] })) },
  ]);
  expect(costByDay([], days)).toEqual([]);
});
