// Deduplication memory: the events delivered within the last 24 hours. Upstream repetitions and
// Kafka redeliveries of these are not posted again (contract 13.5). Best effort: kept in Redis
// and, for the events this process delivered, in memory.
import { LRUCache } from '@bmg/common/cache';
import type { RedisConnection } from '@bmg/common/redis';

const TTL_S = 86_400;
const LOCAL_MAX = 50_000;
const PENDING_MAX = 10_000;

const keyOf = (event_id: string): string => `bmg:seen:${event_id}`;

export type Seen = ReturnType<typeof createSeen>;

export function createSeen(connection: RedisConnection) {
  const local = new LRUCache<string, true>({ max: LOCAL_MAX });
  let pending: string[] = [];
  const flush = (): void => {
    const pipeline = connection.redis.pipeline();
    for (const event_id of pending) pipeline.set(keyOf(event_id), '1', 'EX', TTL_S);
    pending = [];
    pipeline.exec().catch(() => undefined);
  };
  return {
    /** True if this process itself has delivered the event. */
    has: (event_id: string): boolean => local.has(event_id),
    /** Returns which are known to be delivered; without Redis, only this process's own. */
    async hasEach(event_ids: string[]): Promise<boolean[]> {
      const known = event_ids.map((id) => local.has(id));
      const unknown = event_ids.filter((_id, index) => !known[index]);
      if (unknown.length === 0 || !connection.up()) return known;
      try {
        const answers = await connection.redis.mget(unknown.map(keyOf));
        let next = 0;
        return known.map((one) => one || answers[next++] !== null);
      } catch {
        return known;
      }
    },
    /** Does not wait for Redis: a lost write costs a duplicate POST, never a delivery. */
    remember(event_id: string): void {
      local.set(event_id, true);
      if (!connection.up() || pending.length >= PENDING_MAX) return;
      pending.push(event_id);
      // Deliveries that end in the same turn of the event loop share one pipeline.
      if (pending.length === 1) setImmediate(flush);
    },
  };
}
