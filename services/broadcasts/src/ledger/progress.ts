// How a broadcast stands, as it is told: counters, progress, pace, end, failures. Nothing here does any I/O.
import type { Broadcast as Message, GetBroadcastResponse } from '@bmg/proto/broadcasts';
import { addFailures, addTally, emptyTally, type Failure, type Tally } from './contact-state';
import type { ChunkCount } from '../store/chunks';
import type { Broadcast } from '../store/types';

export interface Standing {
  tally: Tally;
  failures: Failure[];
}

/** The chunks of each broadcast, together. */
export function standings(chunks: readonly ChunkCount[]): Map<number, Standing> {
  const byBroadcast = new Map<number, Standing>();
  for (const { broadcast_id, tally, failures } of chunks) {
    const known = byBroadcast.get(broadcast_id) ?? { tally: emptyTally(), failures: [] };
    addTally(known.tally, tally);
    known.failures = addFailures([known.failures, failures]);
    byBroadcast.set(broadcast_id, known);
  }
  return byBroadcast;
}

export const nothingYet = (): Standing => ({ tally: emptyTally(), failures: [] });

export const attempted = ({ sent, failed }: Tally): number => sent + failed;

const PERCENT = 100;
const ROUNDING = 100;
const round = (value: number): number => Math.round(value * ROUNDING) / ROUNDING;

/** Attempted over total, in percent; 100 when completed. */
export function progressOf(
  { status, total }: Pick<Broadcast, 'status' | 'total'>,
  tally: Tally,
): number {
  if (status === 'completed') return PERCENT;
  return total === 0 ? 0 : round((attempted(tally) / total) * PERCENT);
}

/** What every broadcast shows, in the list too. */
export const summary = (broadcast: Broadcast, { tally }: Standing): Message => ({
  id: broadcast._id,
  waba_id: broadcast.waba_id,
  phone_number_id: broadcast.phone_number_id,
  name: broadcast.name,
  template_name: broadcast.template_name,
  template_language: broadcast.template_language,
  total: broadcast.total,
  sent: tally.sent,
  delivered: tally.delivered,
  failed: tally.failed,
  status: broadcast.status,
  scheduled_at: broadcast.scheduled_at ?? undefined,
  started_at: broadcast.started_at ?? undefined,
  completed_at: broadcast.completed_at ?? undefined,
  created_at: broadcast.created_at,
  skipped: broadcast.skipped,
  duplicates: broadcast.duplicates,
  failures: [],
});

const SECOND_MS = 1_000;
const FAILURES_SHOWN_MAX = 50;

/** `number_rate`: what the number sends at present for all its broadcasts, `sharing` of them. */
export function detail(
  broadcast: Broadcast,
  standing: Standing,
  now: Date,
  pace: { number_rate: number | undefined; sharing: number },
): GetBroadcastResponse {
  const { tally, failures } = standing;
  const rate = rateOf(broadcast, tally, now, pace);
  const left = broadcast.total - attempted(tally);
  return {
    progress: progressOf(broadcast, tally),
    broadcast: {
      ...summary(broadcast, standing),
      error_log: errorLog(broadcast, standing),
      rate_per_sec: rate === undefined ? undefined : round(rate),
      estimated_completion_at:
        broadcast.status === 'processing' && rate
          ? new Date(now.getTime() + (left / rate) * SECOND_MS)
          : undefined,
      failures: failures.slice(0, FAILURES_SHOWN_MAX).map(({ code, count, example }) => ({
        code,
        count,
        example_recipient: example,
      })),
    },
  };
}

/** While it runs, its part of the number's present pace; afterwards what it came to. */
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

/** A short text: why it stopped, or what failed; nothing when nothing did. */
function errorLog({ stop, total }: Broadcast, { tally, failures }: Standing): string | undefined {
  if (stop) return `stopped: ${stop.message} (${stop.code})`;
  if (tally.failed === 0) return undefined;
  const reasons = failures
    .slice(0, REASONS_SHOWN_MAX)
    .map(({ code, count }) => `${code}: ${count}`);
  const others = failures.length > REASONS_SHOWN_MAX ? ', others' : '';
  return `${tally.failed} of ${total} failed (${reasons.join(', ')}${others})`;
}
