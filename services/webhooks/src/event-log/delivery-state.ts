// The delivery state of a logged event, from the row of a waiting or failed delivery and the
// recorded attempts. Pure.
import type { RecordedAttempt } from './attempt-log';
import type { DeliveryState } from '../delivery';

export type Status = 'pending' | 'delivered' | 'retrying' | 'failed' | 'dropped';

export interface State {
  status: Status;
  attempts: number;
  last_http_status: number | null;
  last_duration_ms: number | null;
  delivered_at: Date | null;
}

export interface Known {
  row: DeliveryState | undefined;
  /** At the webhook URL and at endpoints, in the order in which they were made. */
  attempts: RecordedAttempt[];
  /** True if the event is known as delivered, although no attempt is recorded. */
  delivered: boolean;
}

/**
 * A refused attempt is followed by its row within this time. If there is no row, a later attempt
 * was accepted and a crash lost its record: only an accepted delivery loses its row.
 */
const ROW_FOLLOWS_MS = 60_000;

/** The state of the delivery to the webhook URL. `now` in epoch milliseconds. */
export function stateOf({ row, attempts: all, delivered }: Known, now: number): State {
  const attempts = all.filter(({ endpoint_id }) => endpoint_id === undefined);
  const accepted = attempts.find(({ result }) => result === 'delivered');
  const posted = attempts.filter(({ result }) => result !== 'dropped');
  return {
    status: statusOf({ row, attempts, delivered: delivered || accepted !== undefined }, now),
    attempts: Math.max(posted.length, row?.attempts ?? 0),
    last_http_status: attempts.at(-1)?.http_status ?? null,
    last_duration_ms: posted.at(-1)?.duration_ms ?? null,
    delivered_at: accepted ? new Date(accepted.at.getTime() + accepted.duration_ms) : null,
  };
}

function statusOf({ row, attempts, delivered }: Known, now: number): Status {
  if (row) {
    if (row.status === 'failed') return 'failed';
    return row.attempts === 0 ? 'pending' : 'retrying';
  }
  if (delivered) return 'delivered';
  const last = attempts.at(-1);
  if (!last) return 'pending';
  if (last.result === 'dropped') return 'dropped';
  return now - last.at.getTime() < ROW_FOLLOWS_MS ? 'retrying' : 'delivered';
}
