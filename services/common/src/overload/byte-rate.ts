// Limits the bytes per second that one holder moves, so that its transfers leave time for others:
// many readers at a time would move as many bytes as the cores can copy.
import { LRUCache } from '../cache';
import { pause } from '../lifecycle/wait';

export interface ByteRate {
  /** Resolves when the holder may move these bytes; at once if the signal is aborted. */
  turn(holder: string, bytes: number, signal?: AbortSignal): Promise<void>;
  /** Counts bytes that the holder has moved: its next turn waits for them. */
  count(holder: string, bytes: number): void;
}

/** A holder that was idle may move this much at once. */
const BURST_MS = 500;
const HOLDERS_MAX = 10_000;

export function createByteRate(bytes_per_s: number): ByteRate {
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
    async turn(holder, bytes, signal) {
      const wait_ms = count(holder, bytes);
      if (wait_ms > 0) await pause(wait_ms, signal);
    },
    count: (holder, bytes) => void count(holder, bytes),
  };
}
