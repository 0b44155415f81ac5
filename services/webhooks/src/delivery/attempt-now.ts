// One attempt outside the schedule: a manual retry, or the replay of a logged event.
import type { Logger } from '@bmg/common/telemetry';
import { postAttempt, type Attempt, type Outcome, type RecordAttempt, type Ways } from './attempt';
import { deliveryKey } from './receiver-key';
import type { Receiver } from './receivers';
import type { Seen } from './seen';
import type { Deliveries } from './store';

export interface AttemptNowDependencies extends Ways {
  deliveries: Deliveries;
  seen: Seen;
  log: Logger;
  recordAttempt: RecordAttempt;
  /** Makes this replica stop scheduling the delivery. */
  untrack(delivery_key: string): void;
}

/** A delivered event leaves the schedule; the caller decides about a refused one. */
export async function attemptNow(
  deps: AttemptNowDependencies,
  attempt: Attempt,
  receiver: Receiver,
): Promise<Outcome> {
  const { deliveries, seen, log, recordAttempt, untrack } = deps;
  const key = deliveryKey(attempt.event_id, attempt.endpoint_id);
  // Never numbered 1: a first attempt without a webhook URL drops the delivery.
  const numbered = { ...attempt, number: Math.max(2, attempt.number) };
  const outcome = await postAttempt(numbered, receiver, deps, log);
  recordAttempt(numbered, outcome, receiver);
  if (outcome.result === 'delivered') {
    seen.remember(key);
    await deliveries.remove(key);
    untrack(key);
  }
  return outcome;
}
