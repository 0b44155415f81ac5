// Requests that wait for the next event of a partner. They are woken by this process's own writes
// at once; one query per POLL_MS, whatever the number of waiters, finds what other replicas wrote.
import { anySignal, pause } from '@bmg/common/lifecycle';
import { ApiError } from '@bmg/common/errors';
import { createPool } from '@bmg/common/overload';
import type { Logger } from '@bmg/common/telemetry';
import { passes } from './match';
import type { EventLogStore, Grown, Match } from './store/buckets';

export const WAITING_OF_PARTNER_MAX = 16;
const WAITING_MAX = 2_000;
const POLL_MS = 500;
/** Buckets of one partner that a poll reads, a query each: more than are written in POLL_MS. */
const BUCKETS_OF_POLL_MAX = 40;

const tooMany = (): ApiError =>
  new ApiError(
    'RATE_LIMIT_EXCEEDED',
    `too many requests wait for events (at most ${WAITING_OF_PARTNER_MAX} of one partner)`,
    { retry_after_s: 1 },
  );

interface Waiter {
  match: Match;
  /** Advances past buckets without an event that matches: the waiter need not read them. */
  last: number;
  wake: AbortController;
}

/** The waiters of all partners in this process. */
function createRegister() {
  const partners = new Map<string, Set<Waiter>>();

  const remove = (partner_id: string, waiter: Waiter): void => {
    const waiters = partners.get(partner_id);
    waiters?.delete(waiter);
    if (waiters?.size === 0) partners.delete(partner_id);
  };
  return {
    remove,
    isEmpty: () => partners.size === 0,
    add(partner_id: string, waiter: Waiter): void {
      const waiters = partners.get(partner_id) ?? new Set();
      partners.set(partner_id, waiters.add(waiter));
    },
    /** Wakes the waiters whose filter an event of the bucket passes. */
    grown({ partner_id, first, last, events }: Grown): void {
      for (const waiter of partners.get(partner_id) ?? []) {
        if (last <= waiter.last) continue;
        const is_next = first <= waiter.last + 1;
        // A filter by contact is not checked here: the waiter reads the bucket.
        if (is_next && !events.some((one) => one.seq > waiter.last && passes(waiter.match, one))) {
          waiter.last = last;
          continue;
        }
        remove(partner_id, waiter);
        waiter.wake.abort();
      }
    },
    /** The lowest position that each partner's waiters have, which decides whether to wake them. */
    lowest: (): Map<string, number> =>
      new Map(
        [...partners].map(([partner_id, waiters]) => [
          partner_id,
          Math.min(...[...waiters].map(({ last }) => last)),
        ]),
      ),
  };
}

type Register = ReturnType<typeof createRegister>;

/** Returns a function that polls for buckets of other replicas until no waiter is left. */
function createPoll(
  store: Pick<EventLogStore, 'grown'>,
  register: Register,
  stopped: AbortSignal,
  log: Logger,
): () => void {
  let polling = false;

  async function look(): Promise<void> {
    for (let looked = 0; !register.isEmpty() && looked < BUCKETS_OF_POLL_MAX; looked += 1) {
      const buckets = await store.grown(register.lowest());
      for (const bucket of buckets) register.grown(bucket);
      if (buckets.length === 0) break;
    }
  }
  async function poll(): Promise<void> {
    polling = true;
    while (!register.isEmpty() && !stopped.aborted) {
      await pause(POLL_MS, stopped);
      await look().catch((error: unknown) =>
        log.warn({ err: error }, 'failed to look for new events'),
      );
    }
    polling = false;
  }
  return () => {
    if (!polling) void poll();
  };
}

export type Waiters = ReturnType<typeof createWaiters>;

export function createWaiters(store: Pick<EventLogStore, 'grown'>, log: Logger) {
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
  const stopped = new AbortController();
  const register = createRegister();
  const startPolling = createPoll(store, register, stopped.signal, log);

  return {
    name: 'event-waiters',
    start: async (): Promise<void> => {},
    stop: async (): Promise<void> => stopped.abort(),
    /**
     * A request that may wait takes its place before it reads anything, so that a refused one costs
     * no query. Throws RATE_LIMIT_EXCEEDED if too many requests of the partner have a place.
     */
    enter(partner_id: string, match: Match = {}) {
      if (!places.take(partner_id)) throw tooMany();
      let waiter: Waiter | undefined;
      return {
        /**
         * Resolves when the partner has an event after `last` that matches, or when the time is
         * over. Resolves to false at shutdown.
         */
        async wait(last: number, limit_ms: number, signal?: AbortSignal): Promise<boolean> {
          waiter = { match, last, wake: new AbortController() };
          register.add(partner_id, waiter);
          startPolling();
          await pause(limit_ms, anySignal(waiter.wake.signal, stopped.signal, signal));
          register.remove(partner_id, waiter);
          return !stopped.signal.aborted;
        },
        /** Position up to which no event has been added that matches. */
        passed: (): number => waiter?.last ?? 0,
        leave: (): void => places.give(partner_id),
      };
    },
    /** Call when a bucket was added to the partner's log. */
    grown: register.grown,
  };
}
