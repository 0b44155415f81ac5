// How many requests a second the console's API takes from a partner.
import type { Bucket } from '../limits/bucket';
import { rateLimited } from '../limits/rate-limited';
import type { Route } from './route';

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
