import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { MARKETS } from './markets';
import { pricesOf } from '../../test/builders';
import { readRateCard, type RateCard } from './rate-card';

const SAMPLE = resolve(__dirname, '../../../../deploy/local/sample-rates.csv');
const HEADER = 'currency,market,category,tier,valid_from,price';
const faults = (...lines: string[]): string[] => {
  const read = readRateCard([HEADER, ...lines].join('\n'));
  if (!Array.isArray(read)) throw new Error('the card is valid');
  return read.map(({ line, problem }) => `${line}: ${problem}`);
};

test('finds the price of the day in the first tier', () => {
  const prices = pricesOf(
    'Germany,utility,0:1000,2026-07-01,0.0550',
    'Germany,utility,1001:,2026-07-01,0.0500',
    'Germany,utility,,2026-10-01,0.0456',
  );
  const on = (day: string) => prices.find('Germany', 'utility', new Date(`${day}T12:00:00Z`));
  expect(on('2026-06-30')).toBeUndefined();
  expect(on('2026-07-01')).toEqual({
    currency: 'USD',
    price: '0.055',
    tier: '0:1000',
    valid_from: '2026-07-01',
  });
  expect(on('2026-09-30')?.price).toBe('0.055');
  expect(on('2026-10-01')?.price).toBe('0.0456');
  expect(prices.find('Germany', 'marketing', new Date())).toBeUndefined();
});

test('reads quoted fields, blank lines, a byte order mark and the upstream’s spelling', () => {
  const read = readRateCard(
    `\uFEFF${HEADER.toUpperCase()}\r\n\r\n"EUR","Rest of Africa",authentication-international,,2026-10-01,"1"\r\n`,
  );
  expect(read).toEqual({
    currency: 'EUR',
    rates: [
      {
        market: 'Rest of Africa',
        category: 'authentication_international',
        tier_from: 0,
        tier_to: null,
        valid_from: '2026-10-01',
        price: '1',
      },
    ],
  });
});

test.each<[string, string[], string[]]>([
  ['an unknown market', ['USD,Atlantis,utility,,2026-10-01,1'], ['2: market "Atlantis" is not']],
  ['an unknown category', ['USD,Germany,gift,,2026-10-01,1'], ['2: category "gift" is not']],
  ['a malformed amount', ['USD,Germany,utility,,2026-10-01,"1,5"'], ['2: price "1,5" is not']],
  ['a negative amount', ['USD,Germany,utility,,2026-10-01,-1'], ['2: price "-1" is not']],
  ['a day that does not exist', ['USD,Germany,utility,,2026-02-30,1'], ['2: valid_from']],
  ['a malformed tier', ['USD,Germany,utility,5,2026-10-01,1'], ['2: tier "5" is not']],
  ['a malformed currency', ['usd,Germany,utility,,2026-10-01,1'], ['2: currency "usd" is not']],
  [
    'two currencies',
    ['USD,Germany,utility,,2026-10-01,1', 'EUR,France,utility,,2026-10-01,1'],
    ['3: currency EUR: a rate card has one currency'],
  ],
  [
    'the same rate twice',
    ['USD,Germany,utility,,2026-10-01,1', 'USD,Germany,utility,,2026-10-01,2'],
    ['3: overlaps another rate'],
  ],
  [
    'tiers that overlap',
    ['USD,Germany,utility,0:100,2026-10-01,1', 'USD,Germany,utility,100:,2026-10-01,2'],
    ['3: overlaps another rate: tier from 100'],
  ],
  [
    'a gap between tiers',
    ['USD,Germany,utility,0:100,2026-10-01,1', 'USD,Germany,utility,102:,2026-10-01,2'],
    ['3: leaves a gap: no tier from 101 to 101'],
  ],
  [
    'no tier at the start or the end',
    ['USD,Germany,utility,10:100,2026-10-01,1'],
    ['2: leaves a gap: no tier from 0 to 9', '2: leaves a gap: no tier from 101 on'],
  ],
  [
    'a market that lacks a category',
    [
      'USD,Germany,utility,,2026-10-01,1',
      'USD,Germany,marketing,,2026-10-01,1',
      'USD,France,utility,,2026-10-01,1',
    ],
    ['4: leaves a gap: France has no rate for marketing'],
  ],
  ['no rates', [], ['1: has no rates']],
])('refuses %s, with the line', (_name, lines, expected) => {
  expect(faults(...lines)).toEqual(expected.map((text) => expect.stringContaining(text)));
});

test('refuses a file without the columns, and one that is not CSV', () => {
  expect(readRateCard('market,price\nGermany,1')).toEqual([
    { line: 1, problem: 'lacks the columns currency, category, tier, valid_from' },
  ]);
  expect(readRateCard(`${HEADER}\n"USD,Germany`)).toEqual([
    { line: expect.any(Number), problem: expect.stringContaining('is not CSV') },
  ]);
});

test('skips lines that start with #, and counts them', () => {
  const line = 'USD,Germany,utility,,2026-10-01,0.05';
  expect(readRateCard(`# Invented\n${HEADER}\n${line}`)).toMatchObject({ rates: [{}] });
  expect(readRateCard(`# Invented\n${HEADER}\n${line}x`)).toEqual([
    { line: 3, problem: expect.stringContaining('price') },
  ]);
});

test('the sample card is complete, and marked as invented', () => {
  const csv = readFileSync(SAMPLE, 'utf8');
  expect(csv.split('\n')[0]).toMatch(/^# Invented prices/);
  const card = readRateCard(csv) as RateCard;
  expect(new Set(card.rates.map(({ market }) => market))).toEqual(new Set(MARKETS));
});

test('names every wrong line, in order', () => {
  const found = faults('USD,Germany,utility,,2026-10-01,x', 'USD,Atlantis,utility,,2026-10-01,y');
  expect(found.map((one) => one.split(' ').slice(0, 2).join(' '))).toEqual([
    '2: price',
    '3: market',
    '3: price',
  ]);
});
