// Checks of the console's requests beside their session: the site that made them, the age of the
// log-in, and the rate.
import { ApiError } from '@bmg/common/errors';
import type { Session } from '@bmg/proto/settings';
import type { Context } from 'koa';
import type { Bucket } from '../limits/bucket';
import { rateLimited } from '../limits/rate-limited';
import type { Route } from './route';

/**
 * Throws for a change that another site may have made the browser send. Browsers say which site
 * made it in headers that no script can change; a browser that sends neither header is too old to
 * be trusted with a change.
 */
export function checkOwnSite(context: Context, own_origin: string): void {
  const origin = context.get('origin');
  const is_own =
    origin === '' ? context.get('sec-fetch-site') === 'same-origin' : origin === own_origin;
  if (is_own) return;
  throw new ApiError(
    'UNAUTHORIZED',
    `changes are accepted only from ${own_origin} (header Origin)`,
  );
}

const FRESH_MS = 5 * 60_000;

/**
 * Throws FRESH_LOG_IN_REQUIRED unless the row needs no fresh log-in, or the session has one. A
 * cookie that was stolen, or a browser that was left open, does not suffice for such a row: the
 * person, or the holder of the key, logs in again.
 */
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

/**
 * Requests of one partner, all browsers together: an overview makes 18. The partner's REST calls
 * have another bucket.
 */
const PER_SEC = 60;

/** Throws RATE_LIMIT_EXCEEDED for a partner above its limit or above that of the route. */
export async function checkRate(
  bucket: Bucket,
  partner_id: string,
  route?: Pick<Route, 'path' | 'per_sec'>,
): Promise<void> {
  const limits: Array<[string, number]> = [[`dashboard:${partner_id}`, PER_SEC]];
  if (route?.per_sec !== undefined) limits.push([`${route.path}:${partner_id}`, route.per_sec]);
  for (const [name, per_sec] of limits) {
    const { allowed, retry_after_s } = await bucket.take(name, per_sec, 1);
    if (!allowed) throw rateLimited('dashboard', retry_after_s);
  }
}
