// The rates of transfers: at most so many bytes a second for each holder, and at least so many for
// each transfer.
import { LRUCache } from '../cache';
import { pause } from '../lifecycle/wait';

export type ByteRate = ReturnType<typeof createByteRate>;

/** A holder that was idle may move this much at once. */
const BURST_MS = 500;
const HOLDERS_MAX = 10_000;

/** Many readers at a time would move as many bytes as the cores can copy. */
export function createByteRate(bytes_per_s: number) {
  /** When the bytes of each holder so far will have been moved, at this rate. */
  const moved_at = new LRUCache<string, number>({ max: HOLDERS_MAX });
  /** How long the bytes ahead of these still take. */
  const count = (holder: string, bytes: number): number => {
    const now_ms = performance.now();
    const free_ms = Math.max(moved_at.get(holder) ?? 0, now_ms - BURST_MS);
    moved_at.set(holder, free_ms + (bytes / bytes_per_s) * 1_000);
    return free_ms - now_ms;
  };
  return {
    /** Resolves when the holder may move these bytes; at once if the signal is aborted. */
    async turn(holder: string, bytes: number, signal?: AbortSignal): Promise<void> {
      const wait_ms = count(holder, bytes);
      if (wait_ms > 0) await pause(wait_ms, signal);
    },
    /** Counts bytes that the holder has moved: its next turn waits for them. */
    count: (holder: string, bytes: number): void => void count(holder, bytes),
  };
}

/** A peer that trickles data would hold memory and connections that others need. */
const BYTES_PER_S_MIN = 1_024;

/**
 * Calls `onSlow` once if an interval moves fewer bytes than the minimum rate; returns a function that stops.
 * The first interval is the grace period of slow starts.
 */
export function watchMinimumRate(
  every_ms: number,
  moved: () => number,
  onSlow: () => void,
): () => void {
  let before = moved();
  const timer = setInterval(() => {
    const now = moved();
    if (now - before < (BYTES_PER_S_MIN * every_ms) / 1_000) {
      clearInterval(timer);
      onSlow();
    }
    before = now;
  }, every_ms);
  // The timer must not keep the process alive.
  timer.unref();
  return () => clearInterval(timer);
}
