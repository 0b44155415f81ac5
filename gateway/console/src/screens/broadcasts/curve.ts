// How a broadcast went out and arrived over time, from the messages of its recipients. Pure.
import type { Message } from '../../api/types';

export interface CurvePoint {
  at_ms: number;
  /** Until then. */
  sent: number;
  delivered: number;
  failed: number;
}

const POINTS_MAX = 40;
const ARRIVED = new Set<string | null>(['delivered', 'read']);

const timesOf = (messages: readonly Message[], time: 'at' | 'updated_at'): number[] =>
  messages.map((message) => Date.parse(message[time])).sort((one, other) => one - other);

/** The points have equal distances. None without a message. */
export function curveOf(messages: readonly Message[]): CurvePoint[] {
  const sent = timesOf(messages, 'at');
  const arrived = timesOf(
    messages.filter(({ status }) => ARRIVED.has(status)),
    'updated_at',
  );
  const failed = timesOf(
    messages.filter(({ status }) => status === 'failed'),
    'updated_at',
  );
  const [first] = sent;
  if (first === undefined) return [];
  const last = Math.max(first + 1, sent.at(-1) ?? 0, arrived.at(-1) ?? 0, failed.at(-1) ?? 0);
  const countUntil = (times: number[], at_ms: number): number =>
    times.filter((time) => time <= at_ms).length;
  return Array.from({ length: POINTS_MAX + 1 }, (_none, at) => {
    const at_ms = first + ((last - first) * at) / POINTS_MAX;
    return {
      at_ms,
      sent: countUntil(sent, at_ms),
      delivered: countUntil(arrived, at_ms),
      failed: countUntil(failed, at_ms),
    };
  });
}
