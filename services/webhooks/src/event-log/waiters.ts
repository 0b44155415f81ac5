// Requests that wait for the next event of a partner. They are woken by this process's own writes
// at once; one query per POLL_MS, whatever the number of waiters, finds what other replicas wrote.
import { pause, type Component } from '@bmg/common/lifecycle';
import { ApiError } from '@bmg/common/errors';
import type { Logger } from '@bmg/common/telemetry';
import type { EventLogStore } from '../store/event-log';

export interface Waiters extends Component {
  /**
   * Resolves when the partner has positions after `last`, or when the time is over; to false at
   * shutdown. RATE_LIMIT_EXCEEDED if too many requests of the partner wait.
   */
  wait(partner_id: string, last: number, limit_ms: number, signal?: AbortSignal): Promise<boolean>;
  /** The partner's log reaches up to this position. */
  grown(partner_id: string, last: number): void;
}

export const WAITING_OF_PARTNER_MAX = 16;
const WAITING_MAX = 2_000;
const POLL_MS = 500;

interface Waiter {
  last: number;
  wake: AbortController;
}

export function createWaiters(store: Pick<EventLogStore, 'grown'>, log: Logger): Waiters {
  const partners = new Map<string, Set<Waiter>>();
  const stopped = new AbortController();
  let total = 0;
  let polling = false;

  const wake = (partner_id: string): void => {
    for (const waiter of partners.get(partner_id) ?? []) waiter.wake.abort();
  };

  /** The lowest position that each partner's waiters have, which decides whether to wake them. */
  const lowest = (): Map<string, number> =>
    new Map(
      [...partners].map(([partner_id, waiters]) => [
        partner_id,
        Math.min(...[...waiters].map(({ last }) => last)),
      ]),
    );

  async function poll(): Promise<void> {
    polling = true;
    while (total > 0 && !stopped.signal.aborted) {
      await pause(POLL_MS, stopped.signal);
      if (total === 0) break;
      try {
        for (const partner_id of await store.grown(lowest())) wake(partner_id);
      } catch (error) {
        log.warn({ err: error }, 'failed to look for new events');
      }
    }
    polling = false;
  }

  const enter = (partner_id: string, last: number): Waiter => {
    const waiters = partners.get(partner_id) ?? new Set();
    if (waiters.size >= WAITING_OF_PARTNER_MAX || total >= WAITING_MAX) {
      throw new ApiError(
        'RATE_LIMIT_EXCEEDED',
        `too many requests wait for events (at most ${WAITING_OF_PARTNER_MAX} of one partner)`,
        { retry_after_s: 1 },
      );
    }
    const waiter = { last, wake: new AbortController() };
    partners.set(partner_id, waiters.add(waiter));
    total += 1;
    if (!polling) void poll();
    return waiter;
  };

  const leave = (partner_id: string, waiter: Waiter): void => {
    const waiters = partners.get(partner_id);
    waiters?.delete(waiter);
    if (waiters?.size === 0) partners.delete(partner_id);
    total -= 1;
  };
  return {
    name: 'event-waiters',
    async start() {},
    async stop() {
      stopped.abort();
    },
    async wait(partner_id, last, limit_ms, signal) {
      const waiter = enter(partner_id, last);
      const ends = [waiter.wake.signal, stopped.signal, ...(signal ? [signal] : [])];
      await pause(limit_ms, AbortSignal.any(ends));
      leave(partner_id, waiter);
      return !stopped.signal.aborted;
    },
    grown(partner_id, last) {
      for (const waiter of partners.get(partner_id) ?? []) {
        if (last > waiter.last) waiter.wake.abort();
      }
    },
  };
}
