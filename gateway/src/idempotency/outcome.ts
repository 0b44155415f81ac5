// The rules: which failures are kept under an Idempotency-Key, which leave it free, and which leave open
// what was done.
import { ApiError } from '@bmg/common/errors';

/**
 * forget: nothing was done, the key is free again. keep: final, a repeat gets this answer. unknown: it may
 * have been done, so that it is never done again under this key.
 */
export type Verdict = 'forget' | 'keep' | 'unknown';

/** Refusals: they come before anything is done. */
const NOTHING_DONE = new Set([400, 401, 402, 403, 404, 429, 503]);

export function judge(error: ApiError): Verdict {
  const outcome = statedOutcome(error);
  if (outcome === 'not_sent') return 'forget';
  if (outcome === 'unknown') return 'unknown';
  // Retryable is said only of what cannot have been done, or was refused for the moment.
  if (error.code === 'UPSTREAM_ERROR') return error.retryable ? 'forget' : 'keep';
  // The connection to a service broke; where that was before the request left, the error is retryable.
  if (error.code === 'SERVICE_UNAVAILABLE' && !error.retryable) return 'unknown';
  // The service that did the work is still at it.
  if (error.code === 'IDEMPOTENCY_KEY_IN_USE') return 'unknown';
  if (NOTHING_DONE.has(error.http)) return 'forget';
  // What is left of the 5xx are time outs and faults of our own: they say nothing of what was done.
  return error.http >= 500 ? 'unknown' : 'keep';
}

/** What our services say themselves. Details beside an upstream code are the upstream's words. */
function statedOutcome({ upstream_code, details }: ApiError): unknown {
  if (upstream_code !== undefined || typeof details !== 'object' || details === null) {
    return undefined;
  }
  return (details as { outcome?: unknown }).outcome;
}

/** One answer for everything that is not known, whichever part failed: under a key, asking again is safe. */
export const unknownOutcome = (cause?: unknown, retry_after_s?: number): ApiError =>
  new ApiError(
    'UPSTREAM_ERROR',
    'what became of this request is not known: repeat it with the same Idempotency-Key to ask again, it will not be done twice',
    { retryable: true, details: { outcome: 'unknown' }, retry_after_s, cause },
  );

export const keyInUse = (): ApiError =>
  new ApiError(
    'IDEMPOTENCY_KEY_IN_USE',
    'the first request with this Idempotency-Key is still running',
    { retry_after_s: 1 },
  );

export const keyReused = (): ApiError =>
  new ApiError(
    'IDEMPOTENCY_KEY_REUSED',
    'this Idempotency-Key was used for another request within the last 24 hours',
  );

/** Unprotected is worse than refused: the partner has asked for protection. */
export const unprotected = (cause?: unknown): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'an Idempotency-Key cannot be honoured at the moment: nothing was done, try again',
    { retry_after_s: 1, cause },
  );
