// Limits attempts of a holder whose attempts keep failing: passwords, signatures. Attempts that succeed cost
// nothing, so that a sender of genuine requests is never limited.
import { LRUCache } from '../cache';

export interface FailureLimit {
  /** True while the holder may try; false once it has failed too often. */
  mayTry(holder: string): boolean;
  /** Counts a failed attempt. */
  failed(holder: string): void;
}

/** A holder may fail `burst` times, and then `per_s` times a second. */
export interface FailureLimits {
  burst: number;
  per_s: number;
}

const HOLDERS_MAX = 10_000;

interface Holder {
  /** Failures that the holder has left, as of `at_ms`. */
  left: number;
  at_ms: number;
}

export function createFailureLimit({ burst, per_s }: FailureLimits): FailureLimit {
  const holders = new LRUCache<string, Holder>({ max: HOLDERS_MAX });
  const leftOf = (name: string, now_ms: number): number => {
    const holder = holders.get(name);
    if (!holder) return burst;
    return Math.min(burst, holder.left + ((now_ms - holder.at_ms) * per_s) / 1_000);
  };
  return {
    mayTry: (name) => leftOf(name, performance.now()) >= 1,
    failed(name) {
      const at_ms = performance.now();
      // Attempts that were in flight together may exceed the limit: they delay the next one.
      holders.set(name, { left: Math.max(-burst, leftOf(name, at_ms) - 1), at_ms });
    },
  };
}
