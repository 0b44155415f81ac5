// Long work in turns: a request with 10,000 contacts must not make all others wait.
import { setImmediate } from 'node:timers/promises';

const TURN_MS = 5;
/** When the turns that are promised so far have begun. */
let promised: Promise<void> = Promise.resolve();

/** Several long works take turns with each other: each pass of the event loop has one turn. */
function nextTurn(): Promise<void> {
  promised = promised.then(() => setImmediate());
  return promised;
}

/** Runs `step` for each item in order, and lets other requests run every few milliseconds. */
export async function inTurns<T>(
  items: Iterable<T>,
  step: (item: T, index: number) => void,
): Promise<void> {
  let turn_ends = performance.now() + TURN_MS;
  let index = 0;
  for (const item of items) {
    step(item, index++);
    if (performance.now() < turn_ends) continue;
    await nextTurn();
    turn_ends = performance.now() + TURN_MS;
  }
}
