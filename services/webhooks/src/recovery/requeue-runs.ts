// Requeues of all deliveries of a partner: one run at a time for each partner, on all replicas
// together, because a run updates every stored delivery, makes each replica read them again, and is
// followed by an attempt of each. So the next run starts after a pause that grows with the number
// that the last one queued. Calls during a run join it and get its result. A call after it waits
// for the next run, so that its answer includes every delivery that has failed since; if the pause
// is longer than it can wait, it gets the result of the last run. If Redis is down, each replica
// runs at most one at a time.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '@bmg/common/errors';
import type { RedisConnection } from '@bmg/common/redis';

export interface RequeueRun {
  /** Deliveries that are due since the run. */
  queued: number;
  /** True if an earlier call started the run. */
  joined: boolean;
}

const RUNS_APART_MS = 1_000;
/** The pause after a run, for each delivery that it queued; and the longest one. */
const APART_PER_DELIVERY_MS = 10;
const APART_MAX_MS = 300_000;
/** A run interrupted by a crash blocks the next one for this long. */
const RUN_MAX_MS = 30_000;
/** How long a call waits for the run of another replica; below the deadline of the RPC. */
const JOIN_MAX_MS = 5_000;
const JOIN_POLL_MS = 100;
const RUNNING = 'running';

export type RequeueRuns = ReturnType<typeof createRequeueRuns>;

export function createRequeueRuns(
  { redis }: Pick<RedisConnection, 'redis'>,
  requeue: (partner_id: string) => Promise<number>,
) {
  /** The calls of this process that are in progress. */
  const current = new Map<string, Promise<RequeueRun>>();

  async function runOrJoin(partner_id: string): Promise<RequeueRun> {
    const key = `bmg:webhooks:retry-all:${partner_id}`;
    let joined = false;
    let last: string | undefined;
    for (let waited_ms = 0; waited_ms < JOIN_MAX_MS; waited_ms += JOIN_POLL_MS) {
      // If Redis is down, the run is not shared, but takes place.
      const claimed = await redis.set(key, RUNNING, 'PX', RUN_MAX_MS, 'NX').catch(() => 'OK');
      if (claimed === 'OK') return await start(partner_id, key);
      const value = await redis.get(key).catch(() => null);
      if (value === RUNNING) joined = true;
      else if (value !== null && joined) return { queued: Number(value), joined };
      else last = value ?? undefined;
      await sleep(JOIN_POLL_MS);
    }
    if (last !== undefined) return { queued: Number(last), joined: true };
    throw new ApiError('SERVICE_UNAVAILABLE', 'all events are being queued: try again later');
  }

  async function start(partner_id: string, key: string): Promise<RequeueRun> {
    try {
      const queued = await requeue(partner_id);
      const apart_ms = Math.max(RUNS_APART_MS, queued * APART_PER_DELIVERY_MS);
      await redis.set(key, queued, 'PX', Math.min(apart_ms, APART_MAX_MS)).catch(() => undefined);
      return { queued, joined: false };
    } catch (error) {
      await redis.del(key).catch(() => undefined);
      throw error;
    }
  }

  return {
    async run(partner_id: string): Promise<RequeueRun> {
      const running = current.get(partner_id);
      if (running) return { ...(await running), joined: true };
      const started = runOrJoin(partner_id).finally(() => current.delete(partner_id));
      current.set(partner_id, started);
      return await started;
    },
  };
}
