// Serialises the reads of stored deliveries and makes the intake wait for them, so that new
// deliveries are queued behind stored ones.
import { pause } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';

export interface Loading {
  /** Runs `read` after those before it, and again until it succeeds; resolves when done. */
  run(read: () => Promise<void>): Promise<void>;
  readonly busy: boolean;
  /** Resolves when no read is left. Calls `heartbeat` meanwhile, to stay in the consumer group. */
  waitUntilIdle(heartbeat: () => Promise<void>): Promise<void>;
}

const RETRY_MS = 1_000;
const HEARTBEAT_EVERY_MS = 1_000;

export function createLoading(log: Logger, signal: AbortSignal): Loading {
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
    get busy() {
      return count > 0;
    },
    run(read) {
      count += 1;
      last = last.then(() => untilRead(read)).finally(() => (count -= 1));
      return last;
    },
    async waitUntilIdle(heartbeat) {
      while (count > 0 && !signal.aborted) {
        await Promise.race([last, pause(HEARTBEAT_EVERY_MS)]);
        if (count > 0) await heartbeat();
      }
    },
  };
}
