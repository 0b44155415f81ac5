// The rules for a failure under an Idempotency-Key: which one frees the key, which one is stored as
// the answer, and which one leaves open whether the work was done (contract 15.3).
import { ApiError } from '../errors';

/**
 * not_done: the key is free again. final: a repeat gets the stored answer. unknown: the work may
 * have been done, so that it is never done again under this key.
 */
export type Outcome = 'not_done' | 'final' | 'unknown';

/** Statuses of refusals, which are sent before any work is done. */
const REFUSALS = new Set([400, 401, 402, 403, 404, 429, 503]);

/** Refusals of a service that has found an earlier request with the key. */
const EARLIER = new Set<string>(['IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED']);
const EARLIER_UNKNOWN = 'earlier_unknown';

/** The outcome of a failure for its key. */
export function outcomeOf(failure: ApiError): Outcome {
  const stated = statedOutcome(failure);
  if (stated === 'not_sent') return 'not_done';
  if (stated === 'unknown') return 'unknown';
  // This request has done nothing: the service refused it because of an earlier one.
  if (EARLIER.has(failure.code) || stated === EARLIER_UNKNOWN) return 'not_done';
  // Retryable means that the upstream did nothing: it refused for now, or was not reached.
  if (failure.code === 'UPSTREAM_ERROR') return failure.retryable ? 'not_done' : 'final';
  // The connection to a service broke. It is retryable if that was before the request was sent.
  if (failure.code === 'SERVICE_UNAVAILABLE' && !failure.retryable) return 'unknown';
  if (REFUSALS.has(failure.http)) return 'not_done';
  // The other 5xx are timeouts and faults of our own: the work may have been done.
  return failure.http >= 500 ? 'unknown' : 'final';
}

/** The outcome that our services state. Beside an upstream code, details are upstream's. */
function statedOutcome({ upstream_code, details }: ApiError): unknown {
  if (upstream_code !== undefined || typeof details !== 'object' || details === null) {
    return undefined;
  }
  return (details as { outcome?: unknown }).outcome;
}

/** The answer to every unknown outcome: repeating under the key is safe. */
export const unknownOutcome = (cause?: unknown, retry_after_s?: number): ApiError =>
  new ApiError(
    'UPSTREAM_ERROR',
    'the outcome of this request is unknown: repeat it with the same Idempotency-Key to look it up; the work is not done twice',
    { retryable: true, details: { outcome: 'unknown' }, retry_after_s, cause },
  );

/** From a service to the gateway, which answers `unknownOutcome` and lets the key go. */
export const earlierUnknown = (): ApiError =>
  new ApiError('UPSTREAM_ERROR', 'the outcome of the first request with this key is unknown', {
    retryable: true,
    details: { outcome: EARLIER_UNKNOWN },
  });

export const leavesEarlierUnknown = (failure: ApiError): boolean =>
  statedOutcome(failure) === EARLIER_UNKNOWN;

export const keyInUse = (): ApiError =>
  new ApiError(
    'IDEMPOTENCY_KEY_IN_USE',
    'the first request with this Idempotency-Key is still running: repeat this one in a moment',
    { retry_after_s: 1 },
  );

export const keyReused = (): ApiError =>
  new ApiError(
    'IDEMPOTENCY_KEY_REUSED',
    'this Idempotency-Key was used for another request within the last 24 hours: use a new key',
  );

/** The request requires protection against repetition: it is refused if there is none. */
export const cannotProtect = (cause?: unknown): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'requests with an Idempotency-Key cannot be served at the moment: nothing was done, try again',
    { retry_after_s: 1, cause },
  );
