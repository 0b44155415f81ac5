// The figures of a period: messages from the counts of each day by category, events from one read
// of the log for each day, calls from the usage record, and two periods side by side. Pure.
import type { EventPage, MessageDay, Usage } from './api/types';
import { daysOf, type Days } from './period';
import { healthOf } from './screens/events/health';

const COUNTS = ['sent', 'delivered', 'read', 'failed'] as const;
type Counts = Record<(typeof COUNTS)[number], number>;

const sumOf = (rows: readonly MessageDay[]): Counts => {
  const sum: Counts = { sent: 0, delivered: 0, read: 0, failed: 0 };
  for (const row of rows) for (const name of COUNTS) sum[name] += row[name];
  return sum;
};

const within = (rows: readonly MessageDay[], { from, to }: Days): MessageDay[] =>
  rows.filter(({ day }) => day >= from && day <= to);

export const totalsOf = (rows: readonly MessageDay[], period: Days): Counts =>
  sumOf(within(rows, period));

/** Every day of the period, those without a message included. */
export const countsByDay = (rows: readonly MessageDay[], period: Days): Counts[] =>
  daysOf(period).map((day) => totalsOf(rows, { from: day, to: day }));

/** How many were sent in each category. */
export function sentByCategory(rows: readonly MessageDay[], period: Days): Record<string, number> {
  const sent: Record<string, number> = {};
  for (const row of within(rows, period)) {
    sent[row.category] = (sent[row.category] ?? 0) + row.sent;
  }
  return sent;
}

export interface EventDay {
  day: string;
  events: number;
  /** Percentage of the sample that the receiver accepted; null without an outcome. */
  accepted: number | null;
  /** Median of the sample. */
  answer_ms: number | null;
}

/** The answer to a read from the start of the day, which goes on into later days. */
export interface DayRead {
  day: string;
  page: Pick<EventPage, 'events' | 'newest'>;
}

/** `reads` are of days that follow each other. The positions of a log have no gaps. */
export function eventDaysOf(reads: readonly DayRead[]): EventDay[] {
  const newest = Math.max(0, ...reads.map(({ page }) => page.newest));
  const firsts = reads.map(({ page }) => page.events[0]?.seq ?? newest + 1);
  return reads.map(({ day, page }, at) => {
    const sample = page.events.filter(({ logged_at }) => logged_at.startsWith(day));
    const { accepted, answer_ms } = healthOf(sample);
    const next = firsts[at + 1] ?? newest + 1;
    return { day, events: Math.max(0, next - (firsts[at] as number)), accepted, answer_ms };
  });
}

const OF_CONSOLE = 'console ';

/** Excludes the reads of the console's pages, which have rows of their own. */
export function ownCallsOf({ endpoints }: Pick<Usage, 'endpoints'>): {
  calls: number;
  errors: number;
} {
  const own = endpoints.filter(({ endpoint }) => !endpoint.startsWith(OF_CONSOLE));
  return {
    calls: own.reduce((sum, row) => sum + row.calls, 0),
    errors: own.reduce((sum, row) => sum + row.errors, 0),
  };
}

export interface ComparedRow {
  name: string;
  now: number;
  before: number;
}

/**
 * Groups of either period, the largest of now first; groups without a message in both are left out.
 */
export function compare(
  now: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>>,
): ComparedRow[] {
  const names = new Set([...Object.keys(now), ...Object.keys(before)]);
  return [...names]
    .map((name) => ({ name, now: now[name] ?? 0, before: before[name] ?? 0 }))
    .filter((row) => row.now + row.before > 0)
    .sort((one, other) => other.now - one.now || one.name.localeCompare(other.name));
}
