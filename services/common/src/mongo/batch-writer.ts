// Writes that callers wait for, taken together: whatever arrives while one batch is being written makes
// the next. One write at a time costs a round trip each; in batches the same server takes many times more.
import { pause } from '../lifecycle';

export interface BatchWriter<T> {
  /** Resolves once the item's batch is stored; rejects with the batch's error. */
  add(item: T): Promise<void>;
  /** Resolves when nothing is waiting any more. */
  drain(): Promise<void>;
}

const BATCH_MAX = 500;
/** Past this many waiting, new items are refused: memory stays bounded while the store is away. */
const WAITING_MAX = 20_000;

interface Waiting<T> {
  item: T;
  resolve: () => void;
  reject: (error: unknown) => void;
}

export interface BatchOptions {
  /** A failed batch is written again after this time, until it works or `drain` gives up. */
  retry_ms?: number;
  /** The least time from the start of a batch to the next one's; the first after a rest starts at once. */
  apart_ms?: number;
}

export function createBatchWriter<T>(
  write: (items: T[]) => Promise<void>,
  { retry_ms, apart_ms = 0 }: BatchOptions = {},
): BatchWriter<T> {
  const waiting: Waiting<T>[] = [];
  let writing: Promise<void> | undefined;
  let draining = false;

  let last_start = -Infinity;
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const early_ms = last_start + apart_ms - performance.now();
      if (early_ms > 0 && !draining) await pause(early_ms);
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
    add(item) {
      if (waiting.length >= WAITING_MAX)
        return Promise.reject(new Error('too many writes waiting'));
      return new Promise<void>((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        // The turn of the event loop ends first, so that what arrives together is written together.
        writing ??= new Promise<void>((start) => setImmediate(start)).then(flush);
      });
    },
    async drain() {
      draining = true;
      while (writing) await writing;
      draining = false;
    },
  };
}
