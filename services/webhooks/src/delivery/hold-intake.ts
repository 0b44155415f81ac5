// Holds the Kafka intake back while a limit is exceeded.
import { pause } from '@bmg/common/lifecycle';

export const ROOM_CHECK_MS = 10;
const HEARTBEAT_EVERY_MS = 1_000;

/** Resolves once `isFull` is false. `heartbeat` keeps the process in its consumer group meanwhile. */
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
