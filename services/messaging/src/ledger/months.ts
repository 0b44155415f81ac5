// Months of the ledger, and the periods of requests. Days and months are UTC. Pure.
import { invalidField } from '@bmg/common/errors';
import { dayOf, dayStart, isDay } from '@bmg/common/time';

export const DAY_MS = 86_400_000;
/** The longest period of one request. */
const PERIOD_DAYS_MAX = 31;
export const LEDGER_KEPT_DAYS = 400;

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

/** UTC days, YYYY-MM-DD, both included. */
export interface Period {
  from: string;
  to: string;
}

export const monthOf = (at: Date): string => at.toISOString().slice(0, 7);
export const dayEnd = (day: string): Date => new Date(dayStart(day).getTime() + DAY_MS);
const monthStart = (month: string): Date => dayStart(`${month}-01`);

export function nextMonth(month: string): string {
  const at = monthStart(month);
  return monthOf(new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)));
}

export const monthEnd = (month: string): Date => monthStart(nextMonth(month));

export function monthBefore(month: string): string {
  return monthOf(new Date(monthStart(month).getTime() - 1));
}

export function daysOf({ from, to }: Period): string[] {
  const days: string[] = [];
  for (let at = dayStart(from); dayOf(at) <= to; at = new Date(at.getTime() + DAY_MS)) {
    days.push(dayOf(at));
  }
  return days;
}

export const daysOfMonth = (month: string): string[] =>
  daysOf({ from: `${month}-01`, to: dayOf(new Date(monthEnd(month).getTime() - 1)) });

/** The last month that ended at least this many days ago. */
export const monthDue = (now: Date, days: number): string =>
  monthBefore(monthOf(new Date(now.getTime() - days * DAY_MS)));

/** Defaults to the current month until today. Throws INVALID_FIELD. */
export function readPeriod(
  given: { from?: string | undefined; to?: string | undefined },
  now: Date,
): Period {
  const from = given.from === undefined ? undefined : readDay('from', given.from);
  const to = given.to === undefined ? undefined : readDay('to', given.to);
  const last = to ?? latest(dayOf(now), from);
  const first = from ?? `${last.slice(0, 7)}-01`;
  if (first > last) throw invalidField('from', 'must not be after to');
  const length = (dayStart(last).getTime() - dayStart(first).getTime()) / DAY_MS + 1;
  if (length > PERIOD_DAYS_MAX) {
    throw invalidField('from', `must be at most ${PERIOD_DAYS_MAX - 1} days before to`);
  }
  if (first < dayOf(new Date(now.getTime() - LEDGER_KEPT_DAYS * DAY_MS))) {
    throw invalidField('from', `must be at most ${LEDGER_KEPT_DAYS} days ago`);
  }
  return { from: first, to: last };
}

/** The longest period of one request that begins on this day, until today. */
export function periodFrom(from: string, now: Date): Period {
  const last = dayOf(new Date(dayStart(from).getTime() + (PERIOD_DAYS_MAX - 1) * DAY_MS));
  return { from, to: last < dayOf(now) ? last : dayOf(now) };
}

const latest = (day: string, other: string | undefined): string =>
  other !== undefined && other > day ? other : day;

function readDay(field: 'from' | 'to', text: string): string {
  if (!isDay(text)) throw invalidField(field, 'must be a day, YYYY-MM-DD');
  return text;
}

/** Throws INVALID_FIELD unless the month has ended. */
export function readMonth(text: string, now: Date): string {
  if (!MONTH.test(text)) throw invalidField('month', 'must be a month, YYYY-MM');
  if (monthEnd(text) > now) throw invalidField('month', 'has not ended yet');
  return text;
}
