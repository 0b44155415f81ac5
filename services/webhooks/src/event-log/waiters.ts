// Requests that wait for the next event of a partner. They are woken by this process's own writes
// at once; one query per POLL_MS, whatever the number of waiters, finds what other replicas wrote.
import { anySignal, pause, type Component } from '@bmg/common/lifecycle';
import { ApiError } from '@bmg/common/errors';
import { createPool } from '@bmg/common/overload';
import type { Logger } from '@bmg/common/telemetry';
import type { EventLogStore } from '../store/event-log';

export interface Waiters extends Component {
  /**
   * A request that may wait takes its place before it reads anything, so that one too many costs no query.
   * RATE_LIMIT_EXCEEDED if too many requests of the partner have a place.
   */
  enter(partner_id: string): WaitingPlace;
  /** The partner's log reaches up to this position. */
  grown(partner_id: string, last: number): void;
}

export interface WaitingPlace {
  /**
   * Resolves when the partner has positions after `last`, or when the time is over; to false at
   * shutdown.
   */
  wait(last: number, limit_ms: number, signal?: AbortSignal): Promise<boolean>;
  leave(): void;
}

export const WAITING_OF_PARTNER_MAX = 16;
const WAITING_MAX = 2_000;
const POLL_MS = 500;

const tooMany = (): ApiError =>
  new ApiError(
    'RATE_LIMIT_EXCEEDED',
    `too many requests wait for events (at most ${WAITING_OF_PARTNER_MAX} of one partner)`,
    { retry_after_s: 1 },
  );

interface Waiter {
  last: number;
  wake: AbortController;
}

export function createWaiters(store: Pick<EventLogStore, 'grown'>, log: Logger): Waiters {
  const places = createPool(
    {
      server: 'event_log',
      reason: 'waits',
      holder: 'partner',
      max: WAITING_MAX,
      share: WAITING_OF_PARTNER_MAX / WAITING_MAX,
    },
    log,
  );
  const partners = new Map<string, Set<Waiter>>();
  const stopped = new AbortController();
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
    while (partners.size > 0 && !stopped.signal.aborted) {
      await pause(POLL_MS, stopped.signal);
      if (partners.size === 0) break;
      try {
        for (const partner_id of await store.grown(lowest())) wake(partner_id);
      } catch (error) {
        log.warn({ err: error }, 'failed to look for new events');
      }
    }
    polling = false;
  }

  async function wait(
    partner_id: string,
    last: number,
    limit_ms: number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const waiter = { last, wake: new AbortController() };
    const waiters = partners.get(partner_id) ?? new Set();
    partners.set(partner_id, waiters.add(waiter));
    if (!polling) void poll();
    await pause(limit_ms, anySignal(waiter.wake.signal, stopped.signal, signal));
    waiters.delete(waiter);
    if (waiters.size === 0) partners.delete(partner_id);
    return !stopped.signal.aborted;
  }

  return {
    name: 'event-waiters',
    async start() {},
    async stop() {
      stopped.abort();
    },
    enter(partner_id) {
      if (!places.take(partner_id)) throw tooMany();
      return {
        wait: (last, limit_ms, signal) => wait(partner_id, last, limit_ms, signal),
        leave: () => places.give(partner_id),
      };
    },
    grown(partner_id, last) {
      for (const waiter of partners.get(partner_id) ?? []) {
        if (last > waiter.last) waiter.wake.abort();
      }
    },
  };
}
