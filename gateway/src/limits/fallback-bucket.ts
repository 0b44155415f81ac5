// The shared bucket while Redis answers, this replica's memory while it does not: an outage of
// Redis must neither refuse all requests nor lift the limit.
import type { RedisConnection } from '@bmg/common/redis';
import { metrics, type Logger } from '@bmg/common/telemetry';
import type { Bucket } from './bucket';
import { createMemoryBucket } from './memory-bucket';
import { createRedisBucket } from './redis-bucket';

export function createFallbackBucket(connection: RedisConnection, log: Logger): Bucket {
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
