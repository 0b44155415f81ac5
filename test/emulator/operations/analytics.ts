// Counts of sent and delivered messages by day, as the `analytics` field of an account shows them.
import { invalid } from '../errors';
import type { Field } from '../fields';
import type { Account, JsonObject } from '../types';
import { requireOneOf } from './parameters';

export const DAY_S = 86_400;

/** Undefined when there is no data, as on the platform. */
export function analytics(account: Account, { args }: Field): JsonObject | undefined {
  const [start, end] = periodOf(args['start'], args['end']);
  requireOneOf(args['granularity'], 'granularity', ['DAY']);
  const wanted: string[] = (args['phone_numbers'] ?? '').match(/\d+/g) ?? [];
  const points = new Map<number, { start: number; end: number; sent: number; delivered: number }>();
  const numbers = new Set<string>();
  for (const [at, counts] of account.analytics) {
    if (at < start || at >= end) continue;
    for (const [digits, count] of counts) {
      if (wanted.length > 0 && !wanted.includes(digits)) continue;
      numbers.add(digits);
      const from = dayOf(at);
      const point = points.get(from) ?? { start: from, end: from + DAY_S, sent: 0, delivered: 0 };
      point.sent += count.sent;
      point.delivered += count.delivered;
      points.set(from, point);
    }
  }
  if (points.size === 0) return undefined;
  return {
    phone_numbers: [...numbers],
    country_codes: [account.country],
    granularity: 'DAY',
    data_points: [...points.values()].sort((a, b) => a.start - b.start),
  };
}

/** The beginning of a day, in epoch seconds. */
export const dayOf = (at_s: number): number => Math.floor(at_s / DAY_S) * DAY_S;

export function periodOf(from: unknown, to: unknown): [start: number, end: number] {
  const [start, end] = [Number(from), Number(to)];
  if (!Number.isInteger(start) || !Number.isInteger(end) || end <= start) {
    throw invalid('analytics needs start and end as epoch seconds');
  }
  return [start, end];
}
