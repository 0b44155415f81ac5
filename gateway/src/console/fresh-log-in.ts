// What a session may do only shortly after its log-in: a cookie that was stolen, or a browser that
// was left open, does not suffice for it. The person, or the holder of the key, logs in again.
// Pure.
import { ApiError } from '@bmg/common/errors';
import type { Session } from '@bmg/proto/settings';

const FRESH_MS = 5 * 60_000;

/** Throws FRESH_LOG_IN_REQUIRED unless the row needs no fresh log-in, or the session has one. */
export function checkFreshLogIn(
  { authenticated_at }: Pick<Session, 'authenticated_at'>,
  { fresh_log_in }: { fresh_log_in?: true },
  now: Date,
): void {
  // An onboarding service of the previous release does not send the time.
  if (!fresh_log_in || !authenticated_at) return;
  if (now.getTime() - authenticated_at.getTime() < FRESH_MS) return;
  throw new ApiError(
    'FRESH_LOG_IN_REQUIRED',
    'this needs a log-in within the last five minutes: log in again',
  );
}
