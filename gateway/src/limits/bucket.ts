// The rate limit: a token bucket for each partner, with `rate` tokens a second and a burst of one
// second. All replicas share one in Redis. While it does not answer, each counts in its own memory:
// an outage of Redis must neither refuse all requests nor lift the limit.
import type { Redis } from 'ioredis';
import { LRUCache } from '@bmg/common/cache';
import { partnerVersionKey } from '@bmg/common/directory';
import type { RedisConnection } from '@bmg/common/redis';
import { metrics, type Logger } from '@bmg/common/telemetry';

const HOLDERS_MAX = 10_000;

/** Token buckets in the memory of this process. */
export function createTokens(now: () => number = Date.now) {
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: HOLDERS_MAX });
  /** Takes a token of a holder, whose bucket holds `burst` and gains `rate` a second. */
  return (holder: string, rate: number, burst: number): { allowed: boolean; left: number } => {
    const at = now();
    const known = buckets.get(holder) ?? { tokens: burst, at };
    const gained = (Math.max(0, at - known.at) * rate) / 1_000;
    const tokens = Math.min(burst, known.tokens + gained);
    const allowed = tokens >= 1;
    const left = allowed ? tokens - 1 : tokens;
    buckets.set(holder, { tokens: left, at });
    return { allowed, left };
  };
}

export interface RateLimitResult {
  allowed: boolean;
  /** A token was requested; false when only the version was read. */
  asked: boolean;
  /** Whole tokens left. */
  remaining: number;
  /** Seconds until the bucket is full again. */
  reset_s: number;
  /** Seconds until a refused request can be repeated; at least 1. */
  retry_after_s: number;
  /** The partner's directory version; undefined while Redis is down. */
  version: string | undefined;
}

export interface Bucket {
  /**
   * Takes a token; with `cost` 0, or when the directory version is not `at_version`, it only reads
   * the version.
   */
  take(
    partner_id: string,
    rate: number,
    cost: 0 | 1,
    at_version?: string,
  ): Promise<RateLimitResult>;
}

/** The result of a request for a token to a bucket that holds `tokens` after it. */
export const rateLimitResult = (
  tokens: number,
  rate: number,
  allowed: boolean,
  version: string | undefined,
): RateLimitResult => ({
  allowed,
  asked: true,
  remaining: Math.max(0, Math.floor(tokens)),
  reset_s: Math.max(0, Math.ceil((rate - tokens) / rate)),
  retry_after_s: Math.max(1, Math.ceil((1 - tokens) / rate)),
  version,
});

/** The result of reading only the version. */
export const versionOnly = (rate: number, version: string | undefined): RateLimitResult => ({
  ...rateLimitResult(rate, rate, true, version),
  asked: false,
});

// Returns the partner's directory version too, so that a request needs one round trip for both, and
// only that when no token is requested. The time is Redis's: the clocks of the replicas may differ.
const SCRIPT = `
local version = redis.call('GET', KEYS[2]) or ''
local rate, cost = tonumber(ARGV[1]), tonumber(ARGV[2])
if cost == 0 or (ARGV[3] and ARGV[3] ~= version) then return {version} end
local now = redis.call('TIME')
local at = now[1] * 1000 + now[2] / 1000
local state = redis.call('HMGET', KEYS[1], 't', 'a')
local tokens = rate
if state[1] then
  tokens = math.min(rate, tonumber(state[1]) + math.max(0, at - tonumber(state[2])) * rate / 1000)
end
local allowed = 0
if tokens >= 1 then
  allowed = 1
  tokens = tokens - 1
end
redis.call('HSET', KEYS[1], 't', tostring(tokens), 'a', string.format('%.3f', at))
redis.call('PEXPIRE', KEYS[1], 2000)
return {version, allowed, tostring(tokens)}
`;

interface WithTake extends Redis {
  bmgTake(
    bucket: string,
    version: string,
    rate: number,
    cost: number,
    ...at_version: string[]
  ): Promise<[version: string, allowed?: number, tokens?: string]>;
}

function createRedisBucket(redis: Redis): Bucket {
  redis.defineCommand('bmgTake', { numberOfKeys: 2, lua: SCRIPT });
  return {
    async take(partner_id, rate, cost, at_version) {
      const [version, allowed, tokens] = await (redis as WithTake).bmgTake(
        `bmg:{${partner_id}}:bucket`,
        partnerVersionKey(partner_id),
        rate,
        cost,
        ...(at_version === undefined ? [] : [at_version]),
      );
      return allowed === undefined
        ? versionOnly(rate, version)
        : rateLimitResult(Number(tokens), rate, allowed === 1, version);
    },
  };
}

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

export function createBucket(connection: RedisConnection, log: Logger): Bucket {
  const shared = createRedisBucket(connection.redis);
  const local = createMemoryBucket();
  let falling_back = false;
  const setFallback = (active: boolean): void => {
    if (falling_back === active) return;
    falling_back = active;
    metrics.rate_limiter_fallback.set(active ? 1 : 0);
    if (active) log.warn('shared rate limiter unavailable: limiting in memory');
    else log.info('shared rate limiter available again');
  };
  return {
    async take(partner_id, rate, cost, at_version) {
      if (connection.up()) {
        try {
          const result = await shared.take(partner_id, rate, cost, at_version);
          setFallback(false);
          return result;
        } catch {
          // The command was lost or timed out: use the local bucket.
        }
      }
      setFallback(true);
      return local.take(partner_id, rate, cost);
    },
  };
}
