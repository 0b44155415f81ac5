// Batches writes that callers wait for: items that arrive during one write form the next batch. A
// server takes many times more documents in batches than one at a time.
import { pause } from '../lifecycle';

const BATCH_MAX = 500;
/** Beyond this backlog items are refused: bounds memory while the store is unavailable. */
const WAITING_MAX = 20_000;

interface Waiting<T> {
  item: T;
  resolve: () => void;
  reject: (error: unknown) => void;
}

interface BatchOptions {
  /** Retries a failed batch after this time until it succeeds; `drain` ends the retries. */
  retry_ms?: number;
  /**
   * The minimum time between the starts of two batches; the first one after a pause starts at once,
   * and a full one does not wait.
   */
  apart_ms?: number;
}

export function createBatchWriter<T>(
  write: (items: T[]) => Promise<void>,
  { retry_ms, apart_ms = 0 }: BatchOptions = {},
) {
  const waiting: Waiting<T>[] = [];
  let writing: Promise<void> | undefined;
  let draining = false;

  let last_start = -Infinity;
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const early_ms = last_start + apart_ms - performance.now();
      if (early_ms > 0 && !draining && waiting.length < BATCH_MAX) await pause(early_ms);
      last_start = performance.now();
      const batch = waiting.splice(0, BATCH_MAX);
      try {
        await write(batch.map(({ item }) => item));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        if (retry_ms !== undefined && !draining) {
          waiting.unshift(...batch);
          await pause(retry_ms);
        } else for (const { reject } of batch) reject(error);
      }
    }
    writing = undefined;
  };
  return {
    /** Resolves once the item's batch is stored; rejects with the batch's error. */
    add(item: T): Promise<void> {
      if (waiting.length >= WAITING_MAX)
        return Promise.reject(new Error('too many writes waiting'));
      return new Promise<void>((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        // Waits for the end of the event loop's turn, so that concurrent items share a batch.
        writing ??= new Promise<void>((start) => setImmediate(start)).then(flush);
      });
    },
    /** Resolves when all items are written. */
    async drain(): Promise<void> {
      draining = true;
      while (writing) await writing;
      draining = false;
    },
  };
}
