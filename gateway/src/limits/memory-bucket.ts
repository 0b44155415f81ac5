// The rate limit while Redis is down: each replica counts in its own memory. Partners are still
// limited and still served.
import { rateLimitResult, versionOnly, type Bucket } from './bucket';
import { createTokens } from './tokens';

export function createMemoryBucket(now: () => number = Date.now): Bucket {
  const take = createTokens(now);
  return {
    async take(partner_id, rate, cost) {
      if (cost === 0) return versionOnly(rate, undefined);
      const { allowed, left } = take(partner_id, rate, rate);
      return rateLimitResult(left, rate, allowed, undefined);
    },
  };
}
