// Joins the batches of several partitions for a handler with a high cost per call, such as several
// database commands: at a moderate load each batch has one or two messages.
import { pause } from '../lifecycle';
import type { Received } from './bus';

type Handler<T> = (batch: Received<T>[]) => Promise<void>;

interface Waiting<T> {
  batch: Received<T>[];
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Calls the handler once at a time, at least `apart_ms` after the start of its last call, with all
 * batches that arrived meanwhile; the first batch after a pause does not wait. A partition hands
 * over its next batch once the last one is handled, so messages of a partition stay in order.
 */
export function gathered<T>(apart_ms: number, handler: Handler<T>): Handler<T> {
  let waiting: Waiting<T>[] = [];
  let working = false;
  let started = -Infinity;

  async function handle(joined: Waiting<T>[]): Promise<void> {
    try {
      await handler(joined.flatMap(({ batch }) => batch));
      for (const { resolve } of joined) resolve();
    } catch (error) {
      const [only] = joined;
      if (joined.length === 1) return only?.reject(error);
      // Separately: a faulty batch must not hold up the others.
      for (const one of joined) await handle([one]);
    }
  }
  async function work(): Promise<void> {
    working = true;
    while (waiting.length > 0) {
      // Even without a delay: the batches of one fetch arrive in the same turn of the event loop.
      await pause(started + apart_ms - performance.now());
      started = performance.now();
      const joined = waiting;
      waiting = [];
      await handle(joined);
    }
    working = false;
  }
  return async (batch) => {
    if (batch.length === 0) return;
    await new Promise<void>((resolve, reject) => {
      waiting.push({ batch, resolve, reject });
      if (!working) void work();
    });
  };
}
