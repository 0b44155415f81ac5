// The consequences of one send's answer for its contact and for the broadcast. A contact is retried
// only if its message was certainly not sent.
import { ApiError } from '@bmg/common/errors';

export type RetryReason = 'throttled' | 'pair' | 'unreachable';

export type Outcome =
  | { kind: 'refused'; code: string }
  | { kind: 'retry'; reason: RetryReason; code: string; retry_after_s: number }
  /** The error holds for every contact: the broadcast stops. */
  | { kind: 'stop'; code: string; message: string }
  /** The message may or may not have been sent. */
  | { kind: 'unknown' };

/** Limits of the number's rate and of one recipient: the upstream has sent nothing. */
const LIMITS = new Map<number | undefined, RetryReason>([
  [130_429, 'throttled'],
  [131_056, 'pair'],
]);
/** The token is invalid; the template is unknown, paused or disabled. */
const STOPPING_UPSTREAM_CODES = new Set([190, 132_001, 132_015, 132_016]);
const STOPPING_CODES = new Set(['WABA_NOT_REGISTERED', 'NO_ACTIVE_WABA', 'PARTNER_SUSPENDED']);
const PAYMENT_HTTP = 402;
/** Failures of a call between our services, not answers: the message may have left before. */
const BROKEN_CALL_CODES = new Set(['SERVER_ERROR', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE']);

/** The code under which a failure is counted: the upstream's if there is one, else ours. */
export const codeOf = ({ upstream_code, code }: ApiError): string =>
  upstream_code === undefined ? code : String(upstream_code);

export function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof ApiError)) return { kind: 'unknown' };
  const code = codeOf(error);
  const retry_after_s = error.retry_after_s ?? 0;
  const reason = LIMITS.get(error.upstream_code);
  if (reason) return { kind: 'retry', reason, code, retry_after_s };
  if (stopsBroadcast(error)) return { kind: 'stop', code, message: error.message };
  if (error.upstream_code !== undefined) return { kind: 'refused', code };
  // Messaging, or the upstream behind it, could not be reached: nothing was sent.
  if (
    error.retryable &&
    (error.code === 'UPSTREAM_ERROR' || error.code === 'SERVICE_UNAVAILABLE')
  ) {
    return { kind: 'retry', reason: 'unreachable', code, retry_after_s };
  }
  if (BROKEN_CALL_CODES.has(error.code) || hasUnknownOutcome(error.details)) {
    return { kind: 'unknown' };
  }
  return { kind: 'refused', code };
}

/** True if the error of a number or account means that no further contact can be sent. */
export const stopsBroadcast = (error: ApiError): boolean =>
  error.upstream_code === undefined
    ? STOPPING_CODES.has(error.code) || error.http === PAYMENT_HTTP
    : STOPPING_UPSTREAM_CODES.has(error.upstream_code);

const hasUnknownOutcome = (details: unknown): boolean =>
  typeof details === 'object' &&
  details !== null &&
  (details as { outcome?: unknown }).outcome === 'unknown';

interface RetryRule {
  base_ms: number;
  max_ms: number;
  /** After this many refusals the contact fails. */
  refusals_max: number;
}

const SECOND_MS = 1_000;
const RETRY: Record<RetryReason, RetryRule> = {
  throttled: { base_ms: SECOND_MS, max_ms: 30 * SECOND_MS, refusals_max: 1_000 },
  // The upstream takes about one message in 6 s for the same recipient, 600 an hour.
  pair: { base_ms: 6 * SECOND_MS, max_ms: 60 * SECOND_MS, refusals_max: 100 },
  // Enough to wait out a long outage: the number lane itself slows down to one send every few
  // seconds.
  unreachable: { base_ms: SECOND_MS, max_ms: 10 * SECOND_MS, refusals_max: 20_000 },
};
const JITTER = 0.2;

/** The backoff in ms after the contact's n-th refusal; undefined when it is not retried again. */
export function retryDelayMs(
  { reason, retry_after_s }: { reason: RetryReason; retry_after_s: number },
  refusals: number,
  random = Math.random(),
): number | undefined {
  const { base_ms, max_ms, refusals_max } = RETRY[reason];
  if (refusals >= refusals_max) return undefined;
  const doubled = Math.min(max_ms, base_ms * 2 ** Math.min(refusals - 1, 16));
  const requested = Math.min(max_ms, retry_after_s * SECOND_MS);
  return Math.max(doubled, requested) * (1 + JITTER * random);
}
