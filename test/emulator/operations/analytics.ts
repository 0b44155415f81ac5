// Counts of sent and delivered messages, as the `analytics` field of an account shows them.
import { invalid } from '../errors';
import type { Field } from '../fields';
import type { Account, JsonObject } from '../types';

const STEP_S: Readonly<Record<string, number>> = { HALF_HOUR: 1800, DAY: 86_400 };
const POINTS_MAX = 20_000;

/** Undefined when there is no data, as on the platform. */
export function analytics(account: Account, { args }: Field): JsonObject | undefined {
  const start = Number(args['start']);
  const end = Number(args['end']);
  const granularity = args['granularity'] ?? '';
  if (!Number.isInteger(start) || !Number.isInteger(end) || end <= start) {
    throw invalid('analytics needs start and end as epoch seconds');
  }
  if (!['HALF_HOUR', 'DAY', 'MONTH'].includes(granularity)) {
    throw invalid('Param granularity must be one of {HALF_HOUR, DAY, MONTH}');
  }
  const wanted: string[] = (args['phone_numbers'] ?? '').match(/\d+/g) ?? [];
  const points = new Map<number, JsonObject & { sent: number; delivered: number }>();
  const numbers = new Set<string>();
  for (const [at, counts] of account.analytics) {
    if (at < start || at >= end || points.size >= POINTS_MAX) continue;
    for (const [digits, count] of counts) {
      if (wanted.length > 0 && !wanted.includes(digits)) continue;
      numbers.add(digits);
      const { from, to } = bounds(at, granularity);
      const point = points.get(from) ?? { start: from, end: to, sent: 0, delivered: 0 };
      point.sent += count.sent;
      point.delivered += count.delivered;
      points.set(from, point);
    }
  }
  if (points.size === 0) return undefined;
  return {
    phone_numbers: [...numbers],
    country_codes: [account.country],
    granularity,
    data_points: [...points.values()].sort((a, b) => Number(a['start']) - Number(b['start'])),
  };
}

function bounds(at: number, granularity: string): { from: number; to: number } {
  const step = STEP_S[granularity];
  if (step) {
    const from = Math.floor(at / step) * step;
    return { from, to: from + step };
  }
  const day = new Date(at * 1000);
  const from = Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), 1) / 1000;
  const to = Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1) / 1000;
  return { from, to };
}
