// A bound on what is under way at once. Past it requests are refused before anything of them is read or
// done: a process that is asked for too much answers some of it well, instead of all of it late or not at all.
import { metrics, type Logger } from '../telemetry';

export interface Bound {
  /** False when that would be too much; it is counted, and said now and then. */
  take(amount?: number): boolean;
  give(amount?: number): void;
}

const SAY_EVERY_MS = 10_000;

/** `reason` names what there is too much of: requests, bytes. */
export function createBound(
  of: { server: string; reason: string; max: number },
  log: Logger,
): Bound {
  const { max, ...labels } = of;
  let under_way = 0;
  let refused = 0;
  let said_at = -Infinity;
  const refuse = (): false => {
    metrics.requests_shed.inc(labels);
    refused += 1;
    const now = performance.now();
    if (now - said_at >= SAY_EVERY_MS) {
      log.warn({ ...of, refused }, 'too much is under way: requests are refused');
      said_at = now;
      refused = 0;
    }
    return false;
  };
  return {
    take(amount = 1) {
      // One alone is always taken, or a large one would be refused for ever.
      if (under_way > 0 && under_way + amount > max) return refuse();
      under_way += amount;
      return true;
    },
    give(amount = 1) {
      under_way -= amount;
    },
  };
}
