// Copies of live events for shadows. An event is copied once the first receiver has answered its
// first attempt, so that nothing of that receiver waits. Copies wait in small queues of their own;
// one that finds no room is dropped and counted.
import { setMaxListeners } from 'node:events';
import { topics } from '@bmg/common/bus';
import { within } from '@bmg/common/lifecycle';
import { createPool } from '@bmg/common/overload';
import { metrics } from '@bmg/common/telemetry';
import type { ReceiverShadow } from '@bmg/proto/onboarding';
import type { Answer } from './answers';
import { createShadowPosts, ShadowEnded, type PostDependencies } from './post';
import type { Attempt, Outcome, Receiver } from '../delivery';
import { createRecorder } from '../ground/additions';
import type { Result, Shadows } from './store';

export interface LiveShadowDependencies extends PostDependencies {
  shadows: Pick<Shadows, 'add'>;
}

/** Copies of one shadow in flight: one for each lane, so that a conversation keeps its order. */
const IN_FLIGHT = 4;
/** Copies of one shadow that wait or are in flight. */
const WAITING_MAX = 100;
/** Shadows with such copies: bounds the copies in flight of this process. */
const QUEUES_MAX = 16;
/** The copies in memory; a partner has its part of them. */
const BYTES = {
  server: 'webhooks',
  reason: 'shadow_bytes',
  holder: 'partner',
  max: 32 * 1024 * 1024,
  share: 1 / QUEUES_MAX,
} as const;
const STOP_LIMIT_MS = 1_000;

interface Copy {
  shadow_id: string;
  attempt: Attempt;
  /** How the first receiver answered. */
  first: Answer;
}

interface Queue {
  waiting: number;
  /** The end of each lane. */
  lanes: Array<Promise<void>>;
}

export type LiveShadows = ReturnType<typeof createLiveShadows>;

export function createLiveShadows(deps: LiveShadowDependencies) {
  const { shadows, log } = deps;
  const post = createShadowPosts(deps);
  const queues = new Map<string, Queue>();
  const bytes = createPool(BYTES, log);
  const stopped = new AbortController();
  // One for each copy that waits for its turn, and for its look-up.
  setMaxListeners(2 * QUEUES_MAX * IN_FLIGHT, stopped.signal);
  let part = 1;
  const comparisons = createRecorder<Result>(shadows.add, (err, shadow_id) =>
    log.warn({ err, shadow_id }, 'failed to record the answers of a shadow'),
  );
  const drop = (shadow_id: string): void => {
    metrics.shadow_deliveries.inc({ outcome: 'dropped' });
    comparisons.record(shadow_id, null);
  };
  const send = async ({ shadow_id, attempt, first }: Copy): Promise<void> => {
    try {
      const shadow = await post({ shadow_id, attempt, part, stopped: stopped.signal });
      if (!shadow) return drop(shadow_id);
      const { event_id, event } = attempt;
      comparisons.record(shadow_id, { event_id, event, at: new Date(), first, shadow });
    } catch (error) {
      if (error instanceof ShadowEnded) return;
      log.warn({ err: error, shadow_id }, 'failed to send an event to a shadow');
      drop(shadow_id);
    }
  };
  const enqueue = (copy: Copy): void => {
    const { shadow_id, attempt } = copy;
    const { partner_id, body } = attempt;
    const queue = queues.get(shadow_id) ?? { waiting: 0, lanes: newLanes() };
    const is_full =
      queue.waiting >= WAITING_MAX ||
      (queue.waiting === 0 && queues.size >= QUEUES_MAX) ||
      !bytes.take(partner_id, body.length);
    if (is_full) return drop(shadow_id);
    queues.set(shadow_id, queue);
    queue.waiting += 1;
    // A copy: a view would keep all that was fetched from Kafka with the event in memory.
    const kept = { ...copy, attempt: { ...attempt, body: Buffer.from(body) } };
    const lane = laneOf(attempt);
    const before = queue.lanes[lane] as Promise<void>;
    queue.lanes[lane] = before.then(async () => {
      await send(kept);
      bytes.give(partner_id, body.length);
      queue.waiting -= 1;
      if (queue.waiting === 0) queues.delete(shadow_id);
    });
  };

  return {
    name: 'live-shadows',
    async start(): Promise<void> {},
    async stop(): Promise<void> {
      stopped.abort();
      const lanes = [...queues.values()].flatMap((queue) => queue.lanes);
      // Posts in flight are not waited for: their answers count nowhere.
      await within(STOP_LIMIT_MS, Promise.all(lanes)).catch(() => undefined);
      await comparisons.drain();
    },
    /** This process sends the part of a shadow's rate that belongs to its Kafka partitions. */
    assignPartitions(count: number): void {
      part = Math.max(1, count) / topics.delivery.partitions;
    },
    /** Takes an attempt of the first receiver that has ended. Waits for nothing. */
    offer(attempt: Attempt, outcome: Outcome, { shadow }: Receiver): void {
      if (!shadow || stopped.signal.aborted || !isCompared(attempt, outcome, shadow)) return;
      const { http_status = null, error, trace } = outcome;
      const first = { http_status, error, duration_ms: trace?.duration_ms ?? 0 };
      enqueue({ shadow_id: shadow.shadow_id, attempt, first });
    },
  };
}

/** First attempts that were posted to the first receiver: a shadow gets each event once. */
const isCompared = (attempt: Attempt, outcome: Outcome, shadow: ReceiverShadow): boolean =>
  shadow.source === 'live' &&
  attempt.number === 1 &&
  attempt.endpoint_id === shadow.endpoint_id &&
  outcome.trace !== undefined &&
  Date.now() < (shadow.ends_at?.getTime() ?? 0);

const newLanes = (): Array<Promise<void>> =>
  Array.from({ length: IN_FLIGHT }, () => Promise.resolve());

/** The events of a conversation share a lane. */
function laneOf({ ordering_key, event_id }: Attempt): number {
  let sum = 0;
  for (const character of ordering_key ?? event_id) sum += character.codePointAt(0) ?? 0;
  return sum % IN_FLIGHT;
}
