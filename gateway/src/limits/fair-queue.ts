// Admits work up to a bound; above it, work waits for a place, a bounded time and in bounded
// queues: one for each holder, served in turns, so that a holder with many waiting delays only its
// own.
import { Counts } from '@bmg/common/collections';

export interface FairQueueOptions {
  /** Admitted at a time: in all, and of one holder. */
  max: number;
  of_holder_max: number;
  /** Waiting at a time: in all, and of one holder. */
  waiting_max: number;
  waiting_of_holder_max: number;
  wait_ms: number;
}

/** Frees the place. */
export type Leave = () => void;

type Waiter = (leave: Leave | undefined) => void;

export function createFairQueue(options: FairQueueOptions) {
  const { max, of_holder_max, waiting_max, waiting_of_holder_max, wait_ms } = options;
  const admitted = new Counts();
  /** Only holders with waiters, those that were served last at the end. */
  const queues = new Map<string, Set<Waiter>>();
  let all_admitted = 0;
  let all_waiting = 0;

  const hasPlace = (holder: string): boolean =>
    all_admitted < max && admitted.of(holder) < of_holder_max;

  const admit = (holder: string): Leave => {
    all_admitted += 1;
    admitted.add(holder, 1);
    return () => {
      all_admitted -= 1;
      admitted.add(holder, -1);
      serveNext();
    };
  };

  const remove = (holder: string, queue: Set<Waiter>, waiter: Waiter): void => {
    queue.delete(waiter);
    all_waiting -= 1;
    if (queue.size === 0) queues.delete(holder);
  };

  /** One place became free: one waiter gets it. */
  const serveNext = (): void => {
    for (const [holder, queue] of queues) {
      if (!hasPlace(holder)) continue;
      const [waiter] = queue as Iterable<Waiter> as [Waiter];
      remove(holder, queue, waiter);
      if (queue.size > 0) {
        queues.delete(holder);
        queues.set(holder, queue);
      }
      return waiter(admit(holder));
    }
  };

  return {
    /** Undefined if the holder, or all holders, have none free or others wait for one. */
    enter: (holder: string): Leave | undefined =>
      !queues.has(holder) && hasPlace(holder) ? admit(holder) : undefined,
    /**
     * Resolves with a place, or with undefined: at once if too many wait, later if none was free in
     * time or the caller has disconnected.
     */
    wait(holder: string, gone: AbortSignal): Promise<Leave | undefined> {
      const queue = queues.get(holder) ?? new Set();
      const is_full = all_waiting >= waiting_max || queue.size >= waiting_of_holder_max;
      if (is_full || gone.aborted) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const settle: Waiter = (leave) => {
          clearTimeout(timer);
          gone.removeEventListener('abort', giveUp);
          resolve(leave);
        };
        const giveUp = (): void => {
          remove(holder, queue, settle);
          settle(undefined);
        };
        const timer = setTimeout(giveUp, wait_ms);
        gone.addEventListener('abort', giveUp);
        queue.add(settle);
        queues.set(holder, queue);
        all_waiting += 1;
      });
    },
  };
}
