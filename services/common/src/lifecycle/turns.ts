// Splits long work into turns, so that a request with 10,000 contacts does not block all others.
// All long work of the process takes turns, one after another, and after each turn other requests
// get as much time as it took: however much long work there is, it takes half of the event loop's
// time.
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

/** A request of another partner waits for one turn at each of its steps. */
const TURN_MS = 2;
/** The resolution of timers. */
const REST_MIN_MS = 1;
/** Resolves when all turns granted so far, and the rests after them, have ended. */
let promised: Promise<void> = Promise.resolve();

/** Runs `work` in the next free turn; resolves to its result. */
export function inTurn<T>(work: () => T): Promise<T> {
  let took_ms = 0;
  const done = promised.then(() => {
    const began = performance.now();
    try {
      return work();
    } finally {
      took_ms = performance.now() - began;
    }
  });
  const rest = async (): Promise<void> => {
    if (took_ms >= REST_MIN_MS) await sleep(took_ms);
    else await setImmediate();
  };
  promised = done.then(rest, rest);
  return done;
}

/**
 * Runs `step` for each item in order, and lets other requests run every few milliseconds. Steps
 * within one turn run without interruption.
 */
export async function inTurns<T>(
  items: Iterable<T>,
  step: (item: T, index: number) => void,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  let index = 0;
  const takeTurn = (): boolean => {
    const ends = performance.now() + TURN_MS;
    do {
      const next = rest.next();
      if (next.done) return true;
      step(next.value, index++);
    } while (performance.now() < ends);
    return false;
  };
  let is_done = takeTurn();
  while (!is_done) is_done = await inTurn(takeTurn);
}
