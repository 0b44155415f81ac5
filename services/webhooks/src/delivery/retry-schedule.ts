// When an event that was not taken is tried again: pure functions of what happened.
import { defineMachine } from '@bmg/common/state';

/** retrying: waits for its next attempt (or its first, when it was put aside); failed: given up. */
export type DeliveryStatus = 'retrying' | 'failed';

export const deliveryMachine = defineMachine<DeliveryStatus, 'refused' | 'giveUp' | 'requeue'>({
  refused: { from: ['retrying'], to: 'retrying' },
  giveUp: { from: ['retrying'], to: 'failed' },
  requeue: { from: ['retrying', 'failed'], to: 'retrying' },
});

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** After the n-th attempt failed, the next one waits this long; after the last, the event has failed. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
];
const JITTER = 0.2;
const RETRY_AFTER_MAX_MS = HOUR;
const GONE = 410;

export interface Attempt {
  /** The receiver's status; absent when it did not answer. */
  http_status?: number | undefined;
  retry_after_ms?: number | undefined;
}

export const isDelivered = ({ http_status }: Attempt): boolean =>
  http_status !== undefined && http_status >= 200 && http_status < 300;

/** Milliseconds until the next attempt, or undefined when there is none: `attempts` counts this one. */
export function nextDelayMs(
  attempts: number,
  attempt: Attempt,
  random = Math.random(),
): number | undefined {
  if (attempt.http_status === GONE) return undefined;
  const delay = RETRY_DELAYS_MS[attempts - 1];
  if (delay === undefined) return undefined;
  const asked = Math.min(attempt.retry_after_ms ?? 0, RETRY_AFTER_MAX_MS);
  return Math.max(delay * (1 + JITTER * random), asked);
}

/** Retry-After in seconds or as a date, in milliseconds from now; undefined when it says nothing. */
export function parseRetryAfter(header: string | undefined, now_ms: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * SECOND);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now_ms);
}
