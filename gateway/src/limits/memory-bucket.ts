// What limits while Redis is away: each replica by itself. It neither refuses all nor lets all in.
import { LRUCache } from 'lru-cache';
import { taken, type Bucket } from './bucket';

const PARTNERS_MAX = 10_000;

export function createMemoryBucket(now: () => number = Date.now): Bucket {
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: PARTNERS_MAX });
  return {
    async take(partner_id, rate, cost) {
      if (cost === 0) return taken(rate, rate, true, undefined);
      const at = now();
      const known = buckets.get(partner_id);
      const tokens = known
        ? Math.min(rate, known.tokens + (Math.max(0, at - known.at) * rate) / 1_000)
        : rate;
      const allowed = tokens >= 1;
      const left = allowed ? tokens - 1 : tokens;
      buckets.set(partner_id, { tokens: left, at });
      return taken(left, rate, allowed, undefined);
    },
  };
}
