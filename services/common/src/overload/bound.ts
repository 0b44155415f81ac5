// A bound on concurrent work. Beyond it requests are refused unread, so that an overloaded process
// answers some requests well instead of all of them late.
import { metrics, type Logger } from '../telemetry';

export interface Bound {
  /** False beyond the bound; every refusal is counted, and logged at most every ten seconds. */
  take(amount?: number): boolean;
  /** Takes beyond the bound too, for items that are in memory already and cannot be refused. */
  force(amount: number): void;
  give(amount?: number): void;
}

const SAY_EVERY_MS = 10_000;

/** `reason` names the bounded resource: requests, bytes. */
export function createBound(
  of: { server: string; reason: string; max: number },
  log: Logger,
): Bound {
  const { max, ...labels } = of;
  let in_flight = 0;
  let refused = 0;
  let said_at = -Infinity;
  const refuse = (): false => {
    metrics.requests_shed.inc(labels);
    refused += 1;
    const now = performance.now();
    if (now - said_at >= SAY_EVERY_MS) {
      log.warn({ ...of, refused }, 'overloaded: refusing requests');
      said_at = now;
      refused = 0;
    }
    return false;
  };
  return {
    take(amount = 1) {
      // A single request is always accepted, or a large one would be refused for ever.
      if (in_flight > 0 && in_flight + amount > max) return refuse();
      in_flight += amount;
      return true;
    },
    force(amount) {
      in_flight += amount;
    },
    give(amount = 1) {
      in_flight -= amount;
    },
  };
}
