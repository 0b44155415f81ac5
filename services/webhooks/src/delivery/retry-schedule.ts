// When a delivery that a receiver refused is attempted again, and when it is given up. Pure
// functions (contract 13.3).
import { defineMachine } from '@bmg/common/state';

/** A `retrying` delivery waits for its next (or first) attempt; a `failed` one was given up. */
export type DeliveryStatus = 'retrying' | 'failed';

export const deliveryMachine = defineMachine<
  DeliveryStatus,
  'scheduleRetry' | 'giveUp' | 'requeue'
>({
  scheduleRetry: { from: ['retrying'], to: 'retrying' },
  giveUp: { from: ['retrying'], to: 'failed' },
  requeue: { from: ['retrying', 'failed'], to: 'retrying' },
});

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Delays after the first attempt, the second and so on; after one attempt more it is given up. */
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

export interface ReceiverAnswer {
  /** Absent if the receiver did not answer. */
  http_status?: number | undefined;
  retry_after_ms?: number | undefined;
  /** A repetition cannot succeed: the destination will never take this event. */
  is_permanent?: boolean | undefined;
}

export const isDelivered = ({ http_status }: ReceiverAnswer): boolean =>
  http_status !== undefined && http_status >= 200 && http_status < 300;

/**
 * Milliseconds until the next attempt, or undefined if the delivery is given up. `attempts`
 * includes the one that got this answer.
 */
export function nextDelayMs(
  attempts: number,
  answer: ReceiverAnswer,
  random = Math.random(),
): number | undefined {
  if (answer.http_status === GONE || answer.is_permanent) return undefined;
  const delay = RETRY_DELAYS_MS[attempts - 1];
  if (delay === undefined) return undefined;
  const requested = Math.min(answer.retry_after_ms ?? 0, RETRY_AFTER_MAX_MS);
  return Math.max(delay * (1 + JITTER * random), requested);
}

/** Retry-After (seconds or an HTTP date) as milliseconds from now; undefined if there is none. */
export function parseRetryAfter(header: string | undefined, now_ms: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * SECOND);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now_ms);
}
