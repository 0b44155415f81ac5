// The partner's view of a broadcast: counters, progress, rate, estimated end and failures. No I/O.
import type { Broadcast as Message, GetBroadcastResponse } from '@bmg/proto/broadcasts';
import { approvalMessage } from '../ground/approval';
import { PAUSED_MAX_MS } from '../ground/broadcast-machine';
import { lastLeavesAt } from '../pace';
import {
  addFailures,
  addTally,
  emptyTally,
  type Failure,
  type Tally,
} from '../ground/contact-state';
import { numberOf } from '../ground/request-id';
import type { ChunkCount } from '../records';
import type { Broadcast } from '../ground/types';

export interface Counts {
  tally: Tally;
  failures: Failure[];
}

/** Adds up the chunks of each broadcast; the key is the broadcast's id. */
export function countsByBroadcast(chunks: readonly ChunkCount[]): Map<number, Counts> {
  const byBroadcast = new Map<number, Counts>();
  for (const { broadcast_id, tally, failures } of chunks) {
    const known = byBroadcast.get(broadcast_id) ?? { tally: emptyTally(), failures: [] };
    addTally(known.tally, tally);
    known.failures = addFailures([known.failures, failures]);
    byBroadcast.set(broadcast_id, known);
  }
  return byBroadcast;
}

export const zeroCounts = (): Counts => ({ tally: emptyTally(), failures: [] });

export const attempted = ({ sent, failed }: Tally): number => sent + failed;

const PERCENT = 100;
const ROUNDING = 100;
const round = (value: number): number => Math.round(value * ROUNDING) / ROUNDING;

/** Attempted contacts as a percentage of the total; 100 when completed. */
export function progressOf(
  { status, total }: Pick<Broadcast, 'status' | 'total'>,
  tally: Tally,
): number {
  if (status === 'completed') return PERCENT;
  return total === 0 ? 0 : round((attempted(tally) / total) * PERCENT);
}

const pauseEndsAt = ({ status, paused_at }: Broadcast): Date | undefined =>
  status === 'paused' && paused_at ? new Date(paused_at.getTime() + PAUSED_MAX_MS) : undefined;

/** The contract's list of statuses is closed: internal ones are shown as the nearest of it. */
function shownStatus({ status, scheduled_at }: Pick<Broadcast, 'status' | 'scheduled_at'>): string {
  if (status === 'paused') return 'processing';
  if (status !== 'awaiting_approval') return status;
  return scheduled_at ? 'scheduled' : 'pending';
}

/** The fields that are shown in lists too. */
export const summary = (broadcast: Broadcast, { tally }: Counts): Message => ({
  ...broadcast,
  id: numberOf(broadcast),
  sent: tally.sent,
  delivered: tally.delivered,
  failed: tally.failed,
  status: shownStatus(broadcast),
  scheduled_at: broadcast.scheduled_at ?? undefined,
  started_at: broadcast.started_at ?? undefined,
  completed_at: broadcast.completed_at ?? undefined,
  paused_at: broadcast.paused_at ?? undefined,
  pause_ends_at: pauseEndsAt(broadcast),
  approval: approvalMessage(broadcast),
  failures: [],
});

const SECOND_MS = 1_000;
const FAILURES_SHOWN_MAX = 50;

/** `number_rate`: messages per second for all broadcasts of the number; `sharing`: their count. */
export function detail(
  broadcast: Broadcast,
  counts: Counts,
  now: Date,
  pace: { number_rate: number | undefined; sharing: number },
): GetBroadcastResponse {
  const { tally, failures } = counts;
  const rate = rateOf(broadcast, tally, now, pace);
  const left = broadcast.total - attempted(tally);
  return {
    progress: progressOf(broadcast, tally),
    broadcast: {
      ...summary(broadcast, counts),
      error_log: errorLog(broadcast, counts),
      rate_per_sec: rate === undefined ? undefined : round(rate),
      estimated_completion_at:
        broadcast.status === 'processing' && rate ? lastLeavesAt(now, left, rate) : undefined,
      failures: failures.slice(0, FAILURES_SHOWN_MAX).map(({ code, count, example }) => ({
        code,
        count,
        example_recipient: example,
      })),
    },
  };
}

/** While the broadcast runs, its part of the number's current rate; afterwards its average. */
function rateOf(
  { status, started_at, completed_at }: Broadcast,
  tally: Tally,
  now: Date,
  { number_rate, sharing }: { number_rate: number | undefined; sharing: number },
): number | undefined {
  if (!started_at || (status !== 'processing' && status !== 'completed')) return undefined;
  if (status === 'processing' && number_rate !== undefined)
    return number_rate / Math.max(1, sharing);
  const seconds = ((completed_at ?? now).getTime() - started_at.getTime()) / SECOND_MS;
  return seconds > 0 ? attempted(tally) / seconds : undefined;
}

const REASONS_SHOWN_MAX = 5;

/**
 * Why the broadcast stopped, or which codes its contacts failed with; undefined without failures.
 */
function errorLog({ stop, total }: Broadcast, { tally, failures }: Counts): string | undefined {
  if (stop) return `stopped: ${stop.message} (${stop.code})`;
  if (tally.failed === 0) return undefined;
  const reasons = failures
    .slice(0, REASONS_SHOWN_MAX)
    .map(({ code, count }) => `${code}: ${count}`);
  const others = failures.length > REASONS_SHOWN_MAX ? ', others' : '';
  return `${tally.failed} of ${total} failed (${reasons.join(', ')}${others})`;
}
