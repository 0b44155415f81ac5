// Slows down callers that continue after refusals. A refusal is cheap, but a client that repeats
// refused requests without a pause can keep both cores busy, at the expense of everyone else.
import { LRUCache } from '../cache';

export interface Refusals {
  /** Resolves when the holder's refusal may be answered: at once, unless it has had many. */
  turn(holder: string): Promise<void>;
}

export interface RefusalLimits {
  /** Refusals of one holder that are answered at once, */
  burst: number;
  /** and how many more per second. */
  per_s: number;
}

/** A client that waits as long as Retry-After says loses nothing by it. */
export const REFUSAL_DELAY_MS = 1_000;
/** Delayed answers of one holder, and of all; each holds a connection. Beyond them refusals are immediate. */
const DELAYED_MAX = { of_holder: 500, all: 2_000 };
const HOLDERS_MAX = 10_000;

interface Holder {
  /** Refusals that may still be answered at once, as of `at_ms`. */
  left: number;
  at_ms: number;
  delayed: number;
}

export function createRefusals({ burst, per_s }: RefusalLimits): Refusals {
  const holders = new LRUCache<string, Holder>({ max: HOLDERS_MAX });
  let delayed = 0;
  return {
    async turn(name) {
      const now_ms = performance.now();
      const holder = holders.get(name) ?? { left: burst, at_ms: now_ms, delayed: 0 };
      const gained = ((now_ms - holder.at_ms) * per_s) / 1_000;
      holder.left = Math.min(burst, holder.left + gained);
      holder.at_ms = now_ms;
      holders.set(name, holder);
      if (holder.left >= 1) {
        holder.left -= 1;
        return;
      }
      if (holder.delayed >= DELAYED_MAX.of_holder || delayed >= DELAYED_MAX.all) return;
      holder.delayed += 1;
      delayed += 1;
      await new Promise((resolve) => setTimeout(resolve, REFUSAL_DELAY_MS));
      holder.delayed -= 1;
      delayed -= 1;
    },
  };
}
