// The shared bucket while Redis answers, this replica's own while it does not: a limiter must be neither
// an outage nor a hole.
import type { RedisConnection } from '@bmg/common/redis';
import { metrics, type Logger } from '@bmg/common/telemetry';
import type { Bucket } from './bucket';
import { createMemoryBucket } from './memory-bucket';
import { createRedisBucket } from './redis-bucket';

export function createFallbackBucket(connection: RedisConnection, log: Logger): Bucket {
  const shared = createRedisBucket(connection.redis);
  const own = createMemoryBucket();
  let alone = false;
  const turn = (now: boolean): void => {
    if (alone === now) return;
    alone = now;
    metrics.rate_limiter_fallback.set(now ? 1 : 0);
    if (now) log.warn('the shared rate limiter is away: this replica limits in its own memory');
    else log.info('the shared rate limiter is back');
  };
  return {
    async take(partner_id, rate, cost) {
      if (connection.up()) {
        try {
          const result = await shared.take(partner_id, rate, cost);
          turn(false);
          return result;
        } catch {
          // Falls through: the command was lost or took too long.
        }
      }
      turn(true);
      return own.take(partner_id, rate, cost);
    },
  };
}
