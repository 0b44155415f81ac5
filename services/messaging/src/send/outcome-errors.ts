// What an error says of whether the work was done, where the general rule does not know: whoever repeats a
// request under an Idempotency-Key depends on it.
import { ApiError, rewrap } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { Credentials } from '@bmg/common/directory';

/**
 * The token is asked for before anything leaves: whatever breaks there, nothing was done. Without that word
 * a directory that does not answer in time would look like a send that may have gone out.
 */
export const beforeAnythingLeaves = ({ of, forSending }: Credentials): Credentials => ({
  of: (target, call) => of(target, call).catch(nothingDone),
  forSending: (target, call) => forSending(target, call).catch(nothingDone),
});

function nothingDone(error: unknown): never {
  if (!(error instanceof ApiError) || error.retryable || error.http < 500) throw error;
  throw rewrap(error, { details: { outcome: 'not_sent' }, retryable: true });
}

/** Marking a message as read a second time changes nothing: a lost answer is no reason not to repeat. */
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
 * An upload may be repeated without harm, and its errors say so. Under a key it is promised to be done
 * once: there the error says that the file may have arrived.
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

/** The upstream was asked, and gave no reason of its own. */
const isNoAnswer = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 'UPSTREAM_ERROR' && error.upstream_code === undefined;
