// Limits the requests of a network to an open route, before their bodies are read. Replicas count
// together in Redis; while it is down each counts in memory.
import { LRUCache } from '@bmg/common/cache';
import { networkOf } from '@bmg/common/overload';
import type { RedisConnection } from '@bmg/common/redis';
import { rateLimited } from './rate-limited';

export type NetworkLimit = ReturnType<typeof createNetworkLimit>;

export const WINDOW_S = 60;
const ADDRESSES_MAX = 50_000;

interface NetworkLimitOptions {
  /** Names the limit in metrics. */
  name: 'login' | 'connect';
  /** Requests of one network in a minute. */
  max: number;
  message: string;
}

/** A key is too long to be guessed: the limit keeps attempts from putting load on the services. */
export const LOGIN_LIMIT: NetworkLimitOptions = {
  name: 'login',
  max: 30,
  message: 'too many log-in attempts: wait a minute and try again',
};

/** A sign-up reports some ten steps; many people may share an address. */
export const CONNECT_LIMIT: NetworkLimitOptions = {
  name: 'connect',
  max: 600,
  message: 'too many requests from your network: wait a minute and try again',
};

export function createNetworkLimit(
  connection: RedisConnection,
  { name, max, message }: NetworkLimitOptions,
) {
  const local = new LRUCache<string, { attempts: number }>({
    max: ADDRESSES_MAX,
    ttl: WINDOW_S * 1_000,
  });
  /** Requests to this replica in the current window. */
  const countLocally = (network: string): number => {
    const known = local.get(network) ?? { attempts: 0 };
    known.attempts += 1;
    if (known.attempts === 1) local.set(network, known);
    return known.attempts;
  };
  /** Requests to all replicas in the current window; 0 while Redis is down. */
  const countShared = async (network: string): Promise<number> => {
    if (!connection.up()) return 0;
    const key = `bmg:{${name}:${network}}:attempts`;
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
    /** Counts a request; throws RATE_LIMIT_EXCEEDED above the limit. */
    async take(address: string): Promise<void> {
      const network = networkOf(address);
      const attempts = Math.max(countLocally(network), await countShared(network));
      if (attempts > max) throw rateLimited(name, WINDOW_S, message);
    },
  };
}
