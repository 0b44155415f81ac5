// The messages of a period, from the counts of each day by category: every figure of them on the
// overview is a sum of these. Pure.
import type { MessageDay } from './api/types';
import { daysOf, type Days } from './period';

export const COUNTS = ['sent', 'delivered', 'read', 'failed'] as const;
export type Counts = Record<(typeof COUNTS)[number], number>;

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
