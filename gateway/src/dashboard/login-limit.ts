// How often an address may try to log in: counted by all replicas together while Redis answers, and by each
// for itself while it does not. A key cannot be guessed anyhow; this keeps the guessing from being a load.
import { isIPv4 } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { RedisConnection } from '@bmg/common/redis';
import { rateLimited } from '../limits/rate-limited';

export interface LoginLimit {
  /** Counts an attempt; throws RATE_LIMIT_EXCEEDED for one too many. */
  take(address: string): Promise<void>;
}

export const ATTEMPTS_MAX = 30;
export const WINDOW_S = 60;
const ADDRESSES_MAX = 50_000;

export function createLoginLimit(connection: RedisConnection): LoginLimit {
  const own = new LRUCache<string, { attempts: number }>({
    max: ADDRESSES_MAX,
    ttl: WINDOW_S * 1_000,
  });
  /** Attempts in this window, by the count of this replica. */
  const countHere = (network: string): number => {
    const known = own.get(network) ?? { attempts: 0 };
    known.attempts += 1;
    if (known.attempts === 1) own.set(network, known);
    return known.attempts;
  };
  const countTogether = async (network: string): Promise<number> => {
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
      const here = countHere(network);
      const attempts = Math.max(here, await countTogether(network));
      if (attempts <= ATTEMPTS_MAX) return;
      throw rateLimited('login', WINDOW_S, 'too many attempts to log in: wait a minute');
    },
  };
}

/** Whoever has one IPv6 address has the whole /64 of it. */
export function networkOf(address: string): string {
  const mapped = address.replace(/^::ffff:/i, '');
  if (isIPv4(mapped)) return mapped;
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 4).join(':');
}
