// Amounts in words, and the forecast of a month. Amounts are decimal text of the ledger; only a
// forecast is computed with numbers, because it is an estimate. Pure.
import type { LedgerAmounts, Message } from './api/types';
import { countOf, dayBefore, dayOf, daysOf, nounOf, type Days } from './period';

/** Amounts of the operator's bills: `$10.00`. */
export const dollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' });

/** `0.0550 USD`; the reason is for a tooltip or a second line. */
export function costOf({ cost }: Pick<Message, 'cost'>): string {
  if (!cost) return '–';
  if (cost.charged === false) return 'free';
  return cost.amount === null ? 'not known' : `${cost.amount} ${cost.currency ?? ''}`.trim();
}

/** Beside a time or a state, without a title: `cost not known`. */
export function costBeside(message: Pick<Message, 'cost'>): string {
  const text = costOf(message);
  return text === 'not known' ? 'cost not known' : text;
}

/** The sum of a group of the ledger, with the messages whose price is not known. */
export const sumOf = ({ amounts, unpriced }: Pick<LedgerAmounts, 'amounts' | 'unpriced'>): string =>
  [
    ...amounts.map(({ amount, currency }) => `${amount} ${currency}`),
    ...(unpriced > 0 ? [`${countOf(unpriced)} without a price`] : []),
  ].join(', ') || '–';

/** `1.1000 USD for 200 messages, 2 without a price`. */
export function spentOf({ amounts, charged, unpriced }: LedgerAmounts): string {
  const sums = amounts.map(({ amount, currency }) => `${amount} ${currency}`);
  return [
    charged > 0
      ? `${sums.join(' and ') || 'Not known'} for ${nounOf(charged, 'message')}`
      : 'Nothing yet',
    ...(unpriced > 0 ? [`${countOf(unpriced)} without a price`] : []),
  ].join(', ');
}

/**
 * `about 0.55 USD`: what so many messages cost at the mean of those that were charged. Undefined
 * without a charged message or with an unknown price.
 */
export function meanCostOf(
  { amounts, charged, unpriced }: LedgerAmounts,
  messages: number,
): string | undefined {
  if (charged === 0 || unpriced > 0 || amounts.length === 0) return undefined;
  const sums = amounts.map(({ amount, currency }) =>
    roughly((Number(amount) / charged) * messages, currency),
  );
  return `about ${sums.join(' and ')}, at the mean price of this broadcast`;
}

/** Whole days whose mean the rest of the month is estimated by. */
const MEAN_DAYS = 7;

interface DayAmounts {
  day: string;
  amounts: LedgerAmounts['amounts'];
}

const currenciesOf = (days: readonly DayAmounts[]): string[] =>
  [...new Set(days.flatMap(({ amounts }) => amounts.map(({ currency }) => currency)))].sort();

/** The cost of each of the days by currency, those without a message included. */
export function costByDay(by_day: readonly DayAmounts[], days: readonly string[]) {
  const amountsOf = new Map(by_day.map(({ day, amounts }) => [day, amounts]));
  return currenciesOf(by_day).map((currency) => ({
    currency,
    costs: days.map((day) => {
      const found = amountsOf.get(day)?.find((one) => one.currency === currency);
      return { day, amount: Number(found?.amount ?? 0) };
    }),
  }));
}

/**
 * Start of the period that a forecast reads from the ledger: the month, and the days of the mean.
 */
export function forecastPeriod(now: Date): Days {
  const mean_from = dayBefore(now.getTime(), MEAN_DAYS);
  const month_from = `${dayOf(now).slice(0, 7)}-01`;
  return { from: mean_from < month_from ? mean_from : month_from, to: dayOf(now) };
}

/**
 * The month's cost by currency: so far, plus the mean of the last seven whole days for each day
 * that is left. A partner that began later has fewer days; without a whole day, today is the mean.
 */
export function forecastOf(days: readonly DayAmounts[], now: Date) {
  const today = dayOf(now);
  const month = today.slice(0, 7);
  const before = days.map(({ day }) => day).filter((day) => day < today);
  const first = before.sort()[0];
  const left = lastDayOf(month) - Number(today.slice(8));
  return currenciesOf(days).map((currency) => {
    const sum = (from: string, to: string): number =>
      days
        .filter(({ day }) => day >= from && day <= to)
        .flatMap(({ amounts }) => amounts)
        .reduce((all, one) => (one.currency === currency ? all + Number(one.amount) : all), 0);
    const so_far = sum(`${month}-01`, today);
    const yesterday = dayBefore(now.getTime(), 1);
    const week = dayBefore(now.getTime(), MEAN_DAYS);
    const from = first !== undefined && first > week ? first : week;
    const per_day =
      first === undefined
        ? sum(today, today)
        : sum(from, yesterday) / daysOf({ from, to: yesterday }).length;
    return { currency, so_far, per_day, month: so_far + per_day * left };
  });
}

const lastDayOf = (month: string): number =>
  new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).getUTCDate();

/** An estimate: two digits after the point, more below one. */
export const roughly = (amount: number, currency: string): string =>
  `${new Intl.NumberFormat(undefined, {
    minimumFractionDigits: 2,
    maximumFractionDigits: amount < 1 ? 4 : 2,
  }).format(amount)} ${currency}`;
