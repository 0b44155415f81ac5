// What the Kafka intake waits for: a limit that is exceeded, and stored deliveries that are being
// read, so that new deliveries are queued behind them. `heartbeat` keeps the process in its
// consumer group.
import { pause } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';

export const ROOM_CHECK_MS = 10;
const HEARTBEAT_EVERY_MS = 1_000;
const RETRY_MS = 1_000;

/** Resolves once `isFull` is false. */
export async function holdIntake(
  isFull: () => boolean,
  heartbeat: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let last_heartbeat = Date.now();
  while (!signal.aborted && isFull()) {
    if (Date.now() - last_heartbeat > HEARTBEAT_EVERY_MS) {
      await heartbeat();
      last_heartbeat = Date.now();
    }
    await pause(ROOM_CHECK_MS, signal);
  }
}

export type Loading = ReturnType<typeof createLoading>;

export function createLoading(log: Logger, signal: AbortSignal) {
  let last: Promise<void> = Promise.resolve();
  let count = 0;

  async function untilRead(read: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      try {
        return await read();
      } catch (error) {
        log.warn({ err: error }, 'failed to load stored deliveries');
        await pause(RETRY_MS, signal);
      }
    }
  }
  return {
    isBusy: () => count > 0,
    /** Runs `read` after those before it, and again until it succeeds; resolves when done. */
    run(read: () => Promise<void>): Promise<void> {
      count += 1;
      last = last.then(() => untilRead(read)).finally(() => (count -= 1));
      return last;
    },
    /** Resolves when no read is left. */
    async waitUntilIdle(heartbeat: () => Promise<void>): Promise<void> {
      while (count > 0 && !signal.aborted) {
        await Promise.race([last, pause(HEARTBEAT_EVERY_MS)]);
        if (count > 0) await heartbeat();
      }
    },
  };
}
