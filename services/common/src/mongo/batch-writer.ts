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

/** With `retry_ms` a failed batch is written again after that time until it works or `drain` gives up. */
export function createBatchWriter<T>(
  write: (items: T[]) => Promise<void>,
  options: { retry_ms?: number } = {},
): BatchWriter<T> {
  const waiting: Waiting<T>[] = [];
  let writing: Promise<void> | undefined;
  let draining = false;

  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH_MAX);
      try {
        await write(batch.map(({ item }) => item));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        if (options.retry_ms !== undefined && !draining) {
          waiting.unshift(...batch);
          await pause(options.retry_ms);
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
