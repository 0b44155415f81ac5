// The rate limit while Redis is down: each replica counts in its own memory. Partners are still
// limited and still served.
import { LRUCache } from '@bmg/common/cache';
import { rateLimitResult, versionOnly, type Bucket } from './bucket';

const PARTNERS_MAX = 10_000;

export function createMemoryBucket(now: () => number = Date.now): Bucket {
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: PARTNERS_MAX });
  return {
    async take(partner_id, rate, cost) {
      if (cost === 0) return versionOnly(rate, undefined);
      const at = now();
      const known = buckets.get(partner_id);
      const tokens = known
        ? Math.min(rate, known.tokens + (Math.max(0, at - known.at) * rate) / 1_000)
        : rate;
      const allowed = tokens >= 1;
      const left = allowed ? tokens - 1 : tokens;
      buckets.set(partner_id, { tokens: left, at });
      return rateLimitResult(left, rate, allowed, undefined);
    },
  };
}
