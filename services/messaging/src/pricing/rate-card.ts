// Rate cards: the price of one message by market, category and volume tier. Reads the operator's
// CSV, refuses it as a whole if a line is wrong, and finds the price of a message. Pure.
import Big from 'big.js';
import { parse } from 'csv-parse/sync';
import { dayOf, isDay } from '@bmg/common/time';
import { groupBy } from '@bmg/common/collections';
import { MARKETS } from './markets';

interface Rate {
  market: string;
  category: string;
  /** Messages of the month from which the price holds; the first tier starts at 0. */
  tier_from: number;
  /** The last message of the tier; null in the highest. */
  tier_to: number | null;
  /** First day, YYYY-MM-DD. */
  valid_from: string;
  /** Decimal text. */
  price: string;
}

export interface RateCard {
  currency: string;
  rates: Rate[];
}

interface LineFault {
  line: number;
  problem: string;
}

export const CATEGORIES = [
  'marketing',
  'utility',
  'authentication',
  'authentication_international',
  'service',
];
const COLUMNS = ['currency', 'market', 'category', 'tier', 'valid_from', 'price'] as const;
const ROWS_MAX = 50_000;
/** Fits the size limit of error details. */
const FAULTS_MAX = 40;

const CURRENCY = /^[A-Z]{3}$/;
const TIER = /^(0|[1-9]\d{0,11}):([1-9]\d{0,11})?$/;
const PRICE = /^\d{1,6}(\.\d{1,8})?$/;

type Line = { line: number; fields: Record<(typeof COLUMNS)[number], string> };

/** Either the card, or every fault with its line. */
export function readRateCard(csv: string): RateCard | LineFault[] {
  const lines = readLines(csv);
  if (!('lines' in lines)) return lines.faults;
  const faults: LineFault[] = [];
  const rates = lines.lines.map((line) => ({ line: line.line, ...readRate(line, faults) }));
  const [first] = lines.lines;
  const currency = first?.fields.currency ?? '';
  for (const { line, fields } of lines.lines) {
    if (CURRENCY.test(fields.currency) && fields.currency !== currency) {
      faults.push({ line, problem: `currency ${fields.currency}: a rate card has one currency` });
    }
  }
  if (faults.length === 0) faults.push(...tierFaults(rates), ...categoryFaults(rates));
  if (faults.length > 0) return faults.sort((a, b) => a.line - b.line).slice(0, FAULTS_MAX);
  return { currency, rates: rates.map(({ line: _line, ...rate }) => rate) };
}

function readLines(csv: string): { lines: Line[] } | { faults: LineFault[] } {
  let records: Array<{ record: Line['fields']; info: { lines: number } }>;
  let columns: string[] = [];
  try {
    records = parse(csv, {
      bom: true,
      comment: '#',
      comment_no_infix: true,
      info: true,
      trim: true,
      skip_empty_lines: true,
      columns: (header: string[]) => (columns = header.map((name) => name.toLowerCase())),
    }) as unknown as typeof records;
  } catch (error) {
    const { lines = 1, message } = error as { lines?: number; message: string };
    return { faults: [{ line: lines, problem: `is not CSV: ${message}` }] };
  }
  const missing = COLUMNS.filter((name) => !columns.includes(name));
  if (missing.length > 0) {
    return { faults: [{ line: 1, problem: `lacks the columns ${missing.join(', ')}` }] };
  }
  if (records.length === 0) return { faults: [{ line: 1, problem: 'has no rates' }] };
  if (records.length > ROWS_MAX) {
    return { faults: [{ line: ROWS_MAX + 2, problem: `has more than ${ROWS_MAX} rates` }] };
  }
  return { lines: records.map(({ record, info }) => ({ line: info.lines, fields: record })) };
}

function readRate({ line, fields }: Line, faults: LineFault[]): Rate {
  const check = (valid: boolean, column: keyof Line['fields'], rule: string): void => {
    if (!valid) faults.push({ line, problem: `${column} "${fields[column]}" ${rule}` });
  };
  const category = fields.category.toLowerCase().replace('-', '_');
  const tier = TIER.exec(fields.tier === '' ? '0:' : fields.tier);
  check(CURRENCY.test(fields.currency), 'currency', 'is not a code of three letters');
  check(MARKETS.includes(fields.market), 'market', 'is not a market of the upstream');
  check(CATEGORIES.includes(category), 'category', `is not one of ${CATEGORIES.join(', ')}`);
  check(tier !== null, 'tier', 'is not a range such as 0:100000, or 100001: for the highest');
  check(isDay(fields.valid_from), 'valid_from', 'is not a day such as 2026-10-01');
  check(PRICE.test(fields.price), 'price', 'is not a decimal such as 0.0456');
  return {
    market: fields.market,
    category,
    tier_from: Number(tier?.[1] ?? 0),
    tier_to: tier?.[2] === undefined ? null : Number(tier[2]),
    valid_from: fields.valid_from,
    price: PRICE.test(fields.price) ? new Big(fields.price).toFixed() : '0',
  };
}

type PlacedRate = Rate & { line: number };

/** The tiers of a market and category start at 0 and follow each other without overlap or gap. */
function tierFaults(rates: readonly PlacedRate[]): LineFault[] {
  const faults: LineFault[] = [];
  const groups = groupBy(rates, (one) => `${one.market}/${one.category}/${one.valid_from}`);
  for (const group of groups.values()) {
    group.sort((a, b) => a.tier_from - b.tier_from || a.line - b.line);
    let next: number | null = 0;
    for (const { line, tier_from, tier_to } of group) {
      if (next === null || tier_from < next) {
        faults.push({ line, problem: `overlaps another rate: tier from ${tier_from}` });
      } else if (tier_from > next) {
        faults.push({ line, problem: `leaves a gap: no tier from ${next} to ${tier_from - 1}` });
      } else if (tier_to !== null && tier_to < tier_from) {
        faults.push({ line, problem: 'has a tier that ends before it starts' });
      }
      next = tier_to === null ? null : tier_to + 1;
    }
    const last = group.at(-1);
    if (last && next !== null) {
      faults.push({ line: last.line, problem: `leaves a gap: no tier from ${next} on` });
    }
  }
  return faults;
}

/** Every market of a day prices the same categories: a forgotten one would look free of charge. */
function categoryFaults(rates: readonly PlacedRate[]): LineFault[] {
  return [...groupBy(rates, ({ valid_from }) => valid_from).values()].flatMap((day) => {
    // Only some countries have a rate for international authentication.
    const needed = new Set(day.map(({ category }) => category));
    needed.delete('authentication_international');
    return [...groupBy(day, ({ market }) => market).values()].flatMap((market) => {
      const given = new Set(market.map(({ category }) => category));
      const missing = [...needed].filter((category) => !given.has(category));
      const [{ line, market: name, valid_from }] = market as [PlacedRate];
      return missing.length === 0
        ? []
        : [
            {
              line,
              problem: `leaves a gap: ${name} has no rate for ${missing.join(', ')} on ${valid_from}`,
            },
          ];
    });
  });
}

interface UnitPrice {
  currency: string;
  price: string;
  /** Spelled as in a rate card: `0:100000`. */
  tier: string;
  valid_from: string;
}

export function createPriceFinder({ currency, rates }: RateCard) {
  // The newest day first, then the tiers upwards.
  const sorted = [...rates].sort(
    (a, b) => b.valid_from.localeCompare(a.valid_from) || a.tier_from - b.tier_from,
  );
  const groups = groupBy(sorted, ({ market, category }) => `${market}/${category}`);
  const ofDay = (market: string, category: string, day: string): Rate[] => {
    const group = groups.get(`${market}/${category}`) ?? [];
    const newest = group.find(({ valid_from }) => valid_from <= day);
    return group.filter(({ valid_from }) => valid_from === newest?.valid_from);
  };
  const unitPrice = ({ price, tier_from, tier_to, valid_from }: Rate): UnitPrice => ({
    currency,
    price,
    tier: `${tier_from}:${tier_to ?? ''}`,
    valid_from,
  });
  return {
    /** The price of the first tier: the volume of an account is not known. */
    find(market: string, category: string, at: Date): UnitPrice | undefined {
      const [first] = ofDay(market, category, dayOf(at));
      return first && unitPrice(first);
    },
    /** The prices of all tiers on a day, upwards; empty without a rate. */
    tiers: (market: string, category: string, day: string): UnitPrice[] =>
      ofDay(market, category, day).map(unitPrice),
  };
}

/** Finds prices. Built once for a card, so that each message costs one look-up. */
export type PriceFinder = ReturnType<typeof createPriceFinder>;
