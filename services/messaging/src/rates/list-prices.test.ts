import { pricesOf } from '../../test/builders';
import { categoryPrices, listPrices } from './list-prices';

const NOW = new Date('2026-11-02T10:00:00Z');
const prices = pricesOf(
  'Brazil,service,,2026-01-01,0.0040',
  'Brazil,utility,0:100,2026-01-01,0.0080',
  'Brazil,utility,101:,2026-01-01,0.0070',
  'Brazil,service,,2026-10-01,0.0050',
  'Brazil,utility,,2026-10-01,0.0090',
  'Other,service,,2026-10-01,0.0100',
  'Other,utility,,2026-10-01,0.0200',
);
const look = (wanted: object) => listPrices(wanted, prices, NOW);
const short = (wanted: object) =>
  look(wanted).prices.map(({ market, category, tier, price, billable_in_window }) =>
    [market, category, tier, price, billable_in_window].join(' '),
  );

test.each(['BR', 'br', ' Brazil ', 'brazil'])('finds a country by %s', (country) => {
  expect(short({ country, category: 'utility' })).toEqual(['Brazil utility 0: 0.009 true']);
});

test('finds the market Other for a country that is not listed, and markets by name', () => {
  expect(short({ country: 'Iceland', category: 'service' })).toEqual([
    'Other service 0: 0.01 true',
  ]);
  expect(short({ country: 'other', category: 'service' })).toHaveLength(1);
});

test('lists every tier of an earlier day, and what was free in an open window', () => {
  expect(short({ day: '2026-09-30' })).toEqual([
    'Brazil utility 0:100 0.008 false',
    'Brazil utility 101: 0.007 false',
    'Brazil service 0: 0.004 false',
  ]);
});

test('lists all markets of today, with the countries of each', () => {
  const { day, currency, prices: found } = look({});
  expect([day, currency, found.length]).toEqual(['2026-11-02', 'USD', 4]);
  expect(found.map(({ countries }) => countries.join())).toEqual(['BR', 'BR', '', '']);
});

test('gives the reason for missing prices', () => {
  expect(listPrices({}, undefined, NOW)).toMatchObject({
    prices: [],
    reason: 'the operator has loaded no rate card',
  });
  expect(look({ country: 'FR' }).reason).toBe('the rate card has no such rate on 2026-11-02');
});

test.each([
  ['country', { country: 'Atlantis' }],
  ['category', { category: 'gossip' }],
  ['date', { day: '2026-02-30' }],
])('refuses a wrong %s and names it', (field, wanted) => {
  expect(() => look(wanted)).toThrow(
    expect.objectContaining({ code: 'INVALID_FIELD', details: expect.objectContaining({ field }) }),
  );
});

describe('the prices of both categories of a change', () => {
  const CHANGE = { previous_category: 'UTILITY', new_category: 'SERVICE', day: '2026-09-30' };

  test('are those of its day, in every market with one for the new category', () => {
    expect(categoryPrices(CHANGE, prices)).toEqual({
      currency: 'USD',
      markets: [{ market: 'Brazil', previous: '0.008', new: '0.004' }],
    });
    const next_day = { ...CHANGE, day: '2026-10-01' };
    expect(categoryPrices(next_day, prices).markets).toEqual([
      { market: 'Brazil', previous: '0.009', new: '0.005' },
      { market: 'Other', previous: '0.02', new: '0.01' },
    ]);
    const unpriced = { ...next_day, previous_category: 'MARKETING' };
    expect(categoryPrices(unpriced, prices).markets).toEqual([
      { market: 'Brazil', new: '0.005' },
      { market: 'Other', new: '0.01' },
    ]);
  });

  test.each([
    ['without a rate card', {}, undefined, 'the operator has loaded no rate card'],
    [
      'before the first day of the card',
      { day: '2025-12-31' },
      prices,
      'the rate card has no rate for SERVICE on 2025-12-31',
    ],
    [
      'for a category without rates',
      { new_category: 'NEWS' },
      prices,
      'the rate card has no rate for NEWS on 2026-09-30',
    ],
  ])('have a reason if they are missing: %s', (_name, change, card, reason) => {
    expect(categoryPrices({ ...CHANGE, ...change }, card)).toEqual({ markets: [], reason });
  });
});
