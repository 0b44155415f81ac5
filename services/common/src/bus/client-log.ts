// The log of the Kafka client. While no broker answers it reports every attempt, several times a second: each
// error is passed on once in a period.
import type { LogEntry } from 'kafkajs';
import type { Logger } from '../telemetry';

export const REPEAT_MS = 30_000;
/** Errors that are remembered; the oldest is forgotten first. */
export const KINDS_MAX = 50;

interface Kind {
  logged_ms: number;
  repeated: number;
}

/** `now` is a monotonic clock in milliseconds. */
export function createClientLog(
  log: Logger,
  now: () => number = () => performance.now(),
): (entry: LogEntry) => void {
  const kinds = new Map<string, Kind>();
  return ({ namespace, label, log: { message, error } }) => {
    const fields = { kafka: namespace, reason: error as unknown };
    if (label !== 'ERROR') return log.debug(fields, message);
    const known = kinds.get(message);
    if (known && now() - known.logged_ms < REPEAT_MS) {
      known.repeated += 1;
      return;
    }
    log.warn({ ...fields, ...(known?.repeated && { repeated: known.repeated }) }, message);
    kinds.delete(message);
    kinds.set(message, { logged_ms: now(), repeated: 0 });
    const [oldest] = kinds.keys();
    if (kinds.size > KINDS_MAX && oldest !== undefined) kinds.delete(oldest);
  };
}
