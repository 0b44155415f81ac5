// Which events have been delivered within the last day: an upstream repetition, or Kafka handing out a
// message again after a crash, is not posted a second time where this still knows of it.
import { LRUCache } from 'lru-cache';
import type { RedisConnection } from '@bmg/common/redis';

export interface Seen {
  /** For each id whether it is known as delivered; with the shared store away, what this process knows. */
  which(event_ids: string[]): Promise<boolean[]>;
  /** What this process itself knows, now. */
  has(event_id: string): boolean;
  /** Remembers without being waited for: a lost note costs a repeat, never an event. */
  remember(event_id: string): void;
}

const LIFE_S = 86_400;
const OWN_MAX = 50_000;
const NOTES_MAX = 10_000;

const keyOf = (event_id: string): string => `bmg:seen:${event_id}`;

export function createSeen(connection: RedisConnection): Seen {
  const own = new LRUCache<string, true>({ max: OWN_MAX });
  let notes: string[] = [];
  const flush = (): void => {
    const pipeline = connection.redis.pipeline();
    for (const event_id of notes) pipeline.set(keyOf(event_id), '1', 'EX', LIFE_S);
    notes = [];
    pipeline.exec().catch(() => undefined);
  };
  return {
    has: (event_id) => own.has(event_id),
    async which(event_ids) {
      const known = event_ids.map((id) => own.has(id));
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
    remember(event_id) {
      own.set(event_id, true);
      if (!connection.up() || notes.length >= NOTES_MAX) return;
      notes.push(event_id);
      // What ends in the same turn of the event loop is one write to the socket.
      if (notes.length === 1) setImmediate(flush);
    },
  };
}
