// Counts, per number and UTC day, the statuses that arrived and those of them that had to be
// repaired. The counts of all replicas are in Redis: they are figures for operators, not state.
import type { RedisConnection } from '@bmg/common/redis';
import { metrics } from '@bmg/common/telemetry';
import { dayOf } from '@bmg/common/time';

interface Counts {
  came: number;
  repaired: number;
}

const KEPT_S = 2 * 86_400;
/** The statuses of this interval share one pipeline. */
const FLUSH_AFTER_MS = 1_000;
const PUBLISH_EVERY_MS = 30_000;
const SHOWN = 10;
/** Below this count, a single loss would look like many. */
const STATUSES_MIN = 100;

const key = (kind: 'came' | 'repaired', now: Date): string => `bmg:statuses:${kind}:${dayOf(now)}`;

export function createLosses({ redis, up }: RedisConnection, now: () => Date) {
  let published_at = -Infinity;
  let pending = new Map<string, Counts>();
  const flush = (): void => {
    const pipeline = redis.pipeline();
    for (const [number, { came, repaired }] of pending) {
      pipeline.hincrby(key('came', now()), number, came);
      if (repaired > 0) pipeline.zincrby(key('repaired', now()), repaired, number);
    }
    for (const kind of ['came', 'repaired'] as const) pipeline.expire(key(kind, now()), KEPT_S);
    pending = new Map();
    pipeline.exec().catch(() => undefined);
  };
  return {
    /** Does not wait: a lost count is a slightly wrong ratio. */
    count(number: string, statuses: ReadonlyArray<{ reconciled: boolean }>): void {
      if (!up()) return;
      if (pending.size === 0) setTimeout(flush, FLUSH_AFTER_MS).unref();
      const counts = pending.get(number) ?? { came: 0, repaired: 0 };
      counts.came += statuses.length;
      counts.repaired += statuses.filter(({ reconciled }) => reconciled).length;
      pending.set(number, counts);
    },
    /** Sets the gauge to the numbers that lose most today; runs at most twice a minute. */
    async publish(): Promise<void> {
      if (!up() || performance.now() - published_at < PUBLISH_EVERY_MS) return;
      published_at = performance.now();
      const most = await redis.zrevrange(key('repaired', now()), 0, SHOWN - 1, 'WITHSCORES');
      const numbers = most.filter((_one, index) => index % 2 === 0);
      const repaired = most.filter((_one, index) => index % 2 === 1).map(Number);
      const came = numbers.length > 0 ? await redis.hmget(key('came', now()), ...numbers) : [];
      metrics.statuses_lost_ratio.reset();
      for (const [index, phone_number_id] of numbers.entries()) {
        const all = Number(came[index] ?? 0);
        if (all < STATUSES_MIN) continue;
        metrics.statuses_lost_ratio.set({ phone_number_id }, (repaired[index] as number) / all);
      }
    },
  };
}

export type Losses = ReturnType<typeof createLosses>;
