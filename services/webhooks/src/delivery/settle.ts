// What the end of an attempt means for a delivery: a table of endings, and the rule that picks one.
// Pure; the dispatcher does what an ending says.
import type { Outcome } from './attempt';
import type { Feedback } from './receiver-limits';
import { deliveryMachine, nextDelayMs } from './retry-schedule';
import type { AttemptRecord } from './store';

/** How long a delivery is kept in the store: while it waits, and again after it has failed. */
export const RETENTION_MS = 30 * 86_400_000;

/** The change of the row is written before the offset is released and the lane goes on. */
type RowChange = { row: 'keep' | 'remove' } | { row: 'store'; record: AttemptRecord };

export type Ending = RowChange & {
  /** `forget` makes Kafka redeliver the message; after `hold` a later ending decides. */
  offset: 'release' | 'forget' | 'hold';
  lane: 'leave' | 'wait';
  /** The feedback to the receiver's share of attempts. */
  share: Feedback;
  /** When the event is remembered, to drop repetitions: before the row changes, or after it. */
  seen: 'first' | 'last' | 'never';
  /** The warning that is logged with it. */
  log?: string;
};

export const ENDINGS = {
  delivered: { row: 'remove', offset: 'release', lane: 'leave', share: 'success', seen: 'first' },
  /** The partner takes no events. */
  dropped: { row: 'remove', offset: 'release', lane: 'leave', share: 'none', seen: 'never' },
  /** Stored with the time of its next attempt. */
  retried: { row: 'store', offset: 'release', lane: 'wait', share: 'failure', seen: 'never' },
  /** An upstream repetition of a failed delivery is no new event: it is in the failed list. */
  failed: { row: 'store', offset: 'release', lane: 'leave', share: 'failure', seen: 'last' },
  /** The partition was reassigned: Kafka redelivers the message to the new owner. */
  reassigned: { row: 'keep', offset: 'forget', lane: 'leave', share: 'none', seen: 'never' },
  /** A manual retry has ended the delivery, or its retention is over. */
  gone: { row: 'keep', offset: 'release', lane: 'leave', share: 'none', seen: 'never' },
  /** The maximum rate of the endpoint leaves no room now. */
  paced: { row: 'keep', offset: 'hold', lane: 'wait', share: 'none', seen: 'never' },
  /** The store or the directory is unreachable. No attempt is used up. */
  unsettled: {
    row: 'keep',
    offset: 'hold',
    lane: 'wait',
    share: 'none',
    seen: 'never',
    log: 'failed to attempt or record delivery',
  },
} as const satisfies Record<string, Omit<Ending, 'record'>>;

/**
 * `attempts` are those before this one. `may_store` is false if the partition of its message was
 * reassigned and it has no row. `now` is in epoch milliseconds.
 */
export function endingOf(
  outcome: Outcome,
  attempts: number,
  may_store: boolean,
  now: number,
): Ending {
  if (outcome.result !== 'refused') return ENDINGS[outcome.result];
  if (!may_store) return ENDINGS.reassigned;
  const delay_ms = nextDelayMs(attempts + 1, outcome);
  const is_over = delay_ms === undefined;
  return {
    ...ENDINGS[is_over ? 'failed' : 'retried'],
    // An outcome without a POST is no evidence about the receiver.
    share: outcome.posted ? 'failure' : 'none',
    record: {
      status: deliveryMachine.to(is_over ? 'giveUp' : 'scheduleRetry'),
      attempts: attempts + 1,
      last_attempt_at: new Date(now),
      next_attempt_at: is_over ? null : new Date(now + delay_ms),
      last_http_status: outcome.http_status ?? null,
      last_error: outcome.error,
      ...(is_over && { expires_at: new Date(now + RETENTION_MS) }),
    },
  };
}
