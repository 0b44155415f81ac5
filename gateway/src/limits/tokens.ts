// Token buckets of many holders in the memory of this process.
import { LRUCache } from '@bmg/common/cache';

const HOLDERS_MAX = 10_000;

export interface Taken {
  allowed: boolean;
  /** Tokens that are left. */
  left: number;
}

/** Takes one token of a holder, whose bucket holds `burst` and gains `rate` a second. */
export type Tokens = (holder: string, rate: number, burst: number) => Taken;

export function createTokens(now: () => number = Date.now): Tokens {
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: HOLDERS_MAX });
  return (holder, rate, burst) => {
    const at = now();
    const known = buckets.get(holder);
    const tokens = known
      ? Math.min(burst, known.tokens + (Math.max(0, at - known.at) * rate) / 1_000)
      : burst;
    const allowed = tokens >= 1;
    const left = allowed ? tokens - 1 : tokens;
    buckets.set(holder, { tokens: left, at });
    return { allowed, left };
  };
}
