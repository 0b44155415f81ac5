// Settles the sends of contacts in doubt with the messaging service, before they are given up as
// unknown.
//
// | Messaging returns | The contact |
// |---|---|
// | `sent` | is recorded as sent |
// | `not_sent`: no attempt can go out any more | waits again, and is sent under the next attempt number |
// | `unknown` | stays in doubt: a status event is awaited, and the outcome is requested again |
//
// A contact leaves doubt for waiting only under the fence of this worker's lease. Attempts of an
// earlier lease have lower numbers, so messaging refuses those that arrive late.
import { metrics, startSpan } from '@bmg/common/telemetry';
import type { SettleSendsResponse_Send as Settled } from '@bmg/proto/messaging';
import { stateAt } from '../ground/contact-state';
import { requestId } from '../ground/request-id';
import type { ActiveBroadcast } from './active-broadcast';
import type { RunnerDependencies } from './dependencies';
import type { HeldChunk } from './held-chunk';

const SETTLE_LIMIT_MS = 5_000;
/** Messaging keeps claims for seven days: no outcomes are requested of older broadcasts. */
const SETTLED_FOR_MS = 5 * 86_400_000;

export class DoubtfulSends {
  constructor(
    private readonly deps: Pick<RunnerDependencies, 'stateWriter' | 'messaging' | 'log'>,
  ) {}

  /** One round over the contacts in doubt; at most one runs for a broadcast. Never rejects. */
  async settle(broadcast: ActiveBroadcast): Promise<void> {
    if (broadcast.is_settling || Date.now() - broadcast.started_since > SETTLED_FOR_MS) return;
    broadcast.is_settling = true;
    try {
      for (const chunk of [...broadcast.chunks]) await this.settleChunk(broadcast, chunk);
    } catch (error) {
      this.deps.log.warn({ err: error, ...broadcast.logged }, 'failed to settle sends');
    } finally {
      broadcast.is_settling = false;
    }
  }

  private async settleChunk({ stored }: ActiveBroadcast, chunk: HeldChunk): Promise<void> {
    const { partner_id, waba_id, phone_number_id } = stored;
    const indices = new Map(
      chunk
        .takeToSettle(Date.now())
        .map((index) => [requestId({ chunk_id: chunk.id, index, salt: chunk.salt }), index]),
    );
    if (indices.size === 0) return;
    const requested_at = Date.now();
    const span = startSpan('broadcast settle');
    let sends: Settled[];
    try {
      const request = {
        partner_id,
        waba_id,
        phone_number_id,
        sends: [...indices].map(([request_id, index]) => ({
          request_id,
          attempt: chunk.lastAttempt(index),
        })),
      };
      ({ sends } = await this.deps.messaging.settleSends(request, {
        deadline: requested_at + SETTLE_LIMIT_MS,
        span: span.spanContext(),
        request_id: `settle_${chunk.id}`,
      }));
    } finally {
      span.end();
    }
    const of = (outcome: string): number[] =>
      sends
        .filter((one) => one.outcome === outcome)
        .flatMap(({ request_id }) => indices.get(request_id) ?? []);
    for (const index of of('unknown')) chunk.stillUnknown(index, requested_at);
    await this.recordSent(chunk, of('sent'));
    await this.requeue(chunk, of('not_sent'));
  }

  private async recordSent(chunk: HeldChunk, indices: number[]): Promise<void> {
    if (indices.length === 0) return;
    const { moved, chunk: stored } = await this.deps.stateWriter.apply(
      chunk.id,
      indices.map((index) => ({ index, event: 'sent' })),
      { salt: chunk.salt },
    );
    for (const index of indices) chunk.recorded(index, stored?.progress.done ?? false);
    metrics.broadcast_sends.inc({ outcome: 'sent' }, moved.filter(Boolean).length);
  }

  private async requeue(chunk: HeldChunk, indices: number[]): Promise<void> {
    if (indices.length === 0) return;
    const {
      moved,
      refused,
      chunk: stored,
    } = await this.deps.stateWriter.apply(
      chunk.id,
      indices.map((index) => ({ index, event: 'release' })),
      { fence: chunk.fence },
    );
    if (refused || !stored) {
      chunk.leaseLost = true;
      return;
    }
    for (const index of indices) {
      if (stateAt(stored.progress.states, index) === 'waiting') chunk.requeue(index);
    }
    metrics.broadcast_sends.inc({ outcome: 'retry_not_sent' }, moved.filter(Boolean).length);
  }
}
