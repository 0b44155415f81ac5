// Paces what one holder moves, so that its transfers leave time for those of others: many readers at a
// time move as many bytes as the cores can copy.
import { LRUCache } from '../cache';
import { pause } from '../lifecycle/wait';

export interface ByteRate {
  /** Resolves when the holder may move these bytes; at once if the signal is aborted. */
  turn(holder: string, bytes: number, signal?: AbortSignal): Promise<void>;
}

/** After a rest a holder moves as much as this at once. */
const BURST_MS = 500;
const HOLDERS_MAX = 10_000;

export function createByteRate(bytes_per_s: number): ByteRate {
  /** When the bytes of each holder so far are moved, at this rate. */
  const moved_at = new LRUCache<string, number>({ max: HOLDERS_MAX });
  return {
    async turn(holder, bytes, signal) {
      const now_ms = performance.now();
      const free_ms = Math.max(moved_at.get(holder) ?? 0, now_ms - BURST_MS);
      moved_at.set(holder, free_ms + (bytes / bytes_per_s) * 1_000);
      if (free_ms > now_ms) await pause(free_ms - now_ms, signal);
    },
  };
}
