// Records on errors whether the work may have been done, if the general rule cannot know it, so
// that retries under an Idempotency-Key are safe.
import { ApiError, rewrap } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { Credentials } from '@bmg/common/directory';

/**
 * The token is fetched before the request leaves, so a failure there means `not_sent`. Otherwise a
 * timeout of the directory would look like a message that may have been sent.
 */
export const failingAsNotSent = ({ of, forSending }: Credentials): Credentials => ({
  of: (target, call) => of(target, call).catch(throwAsNotSent),
  forSending: (target, call) => forSending(target, call).catch(throwAsNotSent),
});

function throwAsNotSent(error: unknown): never {
  if (!(error instanceof ApiError) || error.retryable || error.http < 500) throw error;
  throw rewrap(error, { details: { outcome: 'not_sent' }, retryable: true });
}

/** Marking a message as read is idempotent, so a lost answer is retryable. */
export async function repeatable<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (!isNoAnswer(error)) throw error;
    throw rewrap(error, { retryable: true });
  }
}

const NEVER_LEFT: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * A repeated upload does no harm, so its errors are retryable. Under an Idempotency-Key it is
 * promised to happen once, so there the error also says that the file may have arrived.
 */
export async function uploadedOnce<T>(step: Promise<T>, call: Call): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (!call.idempotency || !isNoAnswer(error) || !error.retryable) throw error;
    if (NEVER_LEFT.has((error.cause as { code?: unknown } | undefined)?.code)) throw error;
    throw rewrap(error, { details: { outcome: 'unknown' }, retryable: true });
  }
}

/** The request was sent, but the upstream returned no error of its own. */
const isNoAnswer = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 'UPSTREAM_ERROR' && error.upstream_code === undefined;
