// Reads from the store that the intake waits for, one after the other: new events come behind stored ones.
import { pause } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';

export interface Loading {
  /** Reads, again and again until it works; resolves when done. */
  add(read: () => Promise<void>): Promise<void>;
  readonly busy: boolean;
  /** Resolves when nothing is being read; meanwhile the membership of the group is kept. */
  wait(heartbeat: () => Promise<void>): Promise<void>;
}

const AGAIN_MS = 1_000;
const HEARTBEAT_EVERY_MS = 1_000;

export function createLoading(log: Logger, signal: AbortSignal): Loading {
  let last: Promise<void> = Promise.resolve();
  let count = 0;

  async function untilRead(read: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      try {
        return await read();
      } catch (error) {
        log.warn({ err: error }, 'waiting deliveries are not loaded yet');
        await pause(AGAIN_MS, signal);
      }
    }
  }
  return {
    get busy() {
      return count > 0;
    },
    add(read) {
      count += 1;
      last = last.then(() => untilRead(read)).finally(() => (count -= 1));
      return last;
    },
    async wait(heartbeat) {
      while (count > 0 && !signal.aborted) {
        await Promise.race([last, pause(HEARTBEAT_EVERY_MS)]);
        if (count > 0) await heartbeat();
      }
    },
  };
}
