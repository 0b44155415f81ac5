// Limits log-in attempts per address, so that guessing keys puts no load on the services (a key is too long
// to be guessed). Replicas count together in Redis; while it is down each counts in memory.
import { LRUCache } from 'lru-cache';
import type { RedisConnection } from '@bmg/common/redis';
import { networkOf } from '../limits/network';
import { rateLimited } from '../limits/rate-limited';

export interface LoginLimit {
  /** Counts an attempt; throws RATE_LIMIT_EXCEEDED above the limit. */
  take(address: string): Promise<void>;
}

export const ATTEMPTS_MAX = 30;
export const WINDOW_S = 60;
const ADDRESSES_MAX = 50_000;

export function createLoginLimit(connection: RedisConnection): LoginLimit {
  const local = new LRUCache<string, { attempts: number }>({
    max: ADDRESSES_MAX,
    ttl: WINDOW_S * 1_000,
  });
  /** Attempts at this replica in the current window. */
  const countLocally = (network: string): number => {
    const known = local.get(network) ?? { attempts: 0 };
    known.attempts += 1;
    if (known.attempts === 1) local.set(network, known);
    return known.attempts;
  };
  /** Attempts at all replicas in the current window; 0 while Redis is down. */
  const countShared = async (network: string): Promise<number> => {
    if (!connection.up()) return 0;
    const key = `bmg:{login:${network}}:attempts`;
    try {
      const replies = await connection.redis
        .multi()
        .set(key, 0, 'EX', WINDOW_S, 'NX')
        .incr(key)
        .exec();
      return Number(replies?.[1]?.[1] ?? 0);
    } catch {
      return 0;
    }
  };
  return {
    async take(address) {
      const network = networkOf(address);
      const attempts = Math.max(countLocally(network), await countShared(network));
      if (attempts <= ATTEMPTS_MAX) return;
      throw rateLimited('login', WINDOW_S, 'too many log-in attempts: wait a minute and try again');
    },
  };
}
