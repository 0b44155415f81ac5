// Slows down callers that go on after refusals, and stops those whose attempts keep failing.
import { LRUCache } from '../cache';
import { Counts } from '../collections';

/** A holder has `burst` tokens, and gains `per_s` a second. */
interface Rate {
  burst: number;
  per_s: number;
}

const HOLDERS_MAX = 10_000;

/**
 * The tokens of many holders. Only refused or failed attempts take one, so that a sender of genuine
 * requests is never limited.
 */
export function createTokens({ burst, per_s }: Rate) {
  const buckets = new LRUCache<string, { left: number; at_ms: number }>({ max: HOLDERS_MAX });
  const leftOf = (holder: string, now_ms = performance.now()): number => {
    const { left, at_ms } = buckets.get(holder) ?? { left: burst, at_ms: now_ms };
    return Math.min(burst, left + ((now_ms - at_ms) * per_s) / 1_000);
  };
  return {
    has: (holder: string): boolean => leftOf(holder) >= 1,
    /** Takes a token, also one that the holder does not have yet: the next one comes later. */
    take(holder: string): void {
      const at_ms = performance.now();
      buckets.set(holder, { left: Math.max(-burst, leftOf(holder, at_ms) - 1), at_ms });
    },
  };
}

export type Refusals = ReturnType<typeof createRefusals>;

/** A client that waits as long as Retry-After says loses nothing by it. */
export const REFUSAL_DELAY_MS = 1_000;
/** Delayed answers, each of which holds a connection. Beyond them refusals are immediate. */
const DELAYED_MAX = { of_holder: 500, all: 2_000 };

/**
 * A refusal is cheap, but a client that repeats refused requests without a pause can keep both
 * cores busy, at the expense of everyone else.
 */
export function createRefusals(rate: Rate) {
  const immediate = createTokens(rate);
  const delayed = new Counts();
  let all_delayed = 0;
  return {
    /** Resolves when the holder's refusal may be answered: at once, unless it has had many. */
    async turn(holder: string): Promise<void> {
      if (immediate.has(holder)) return immediate.take(holder);
      const is_full = delayed.of(holder) >= DELAYED_MAX.of_holder || all_delayed >= DELAYED_MAX.all;
      if (is_full) return;
      delayed.add(holder, 1);
      all_delayed += 1;
      await new Promise((resolve) => setTimeout(resolve, REFUSAL_DELAY_MS));
      delayed.add(holder, -1);
      all_delayed -= 1;
    },
  };
}
