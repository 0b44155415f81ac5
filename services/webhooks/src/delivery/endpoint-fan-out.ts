// Finds the endpoints that want an event, and hands over one copy of the event for each. Runs
// beside the intake, which must not wait for the directory: an event whose partner's endpoints
// cannot be looked up stays uncommitted meanwhile.
import type { Unsettled } from '@bmg/common/bus';
import { pause } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';
import { isExtraEvent } from '@bmg/common/messages';
import type { ReceiverEndpoint } from '@bmg/proto/onboarding';
import type { Delivery } from '@bmg/proto/stream';
import { deliveryKey, isWanted } from './receiver-key';
import type { Receivers } from './receivers';
import type { Seen } from './seen';

export interface EndpointFanOutDependencies {
  receivers: Pick<Receivers, 'of' | 'peek'>;
  seen: Seen;
  log: Logger;
  signal: AbortSignal;
  /** Takes one copy, for an endpoint or else the webhook URL: its `done` settles it. */
  track(received: Unsettled<Delivery>, endpoint: ReceiverEndpoint | undefined): void;
  /** Called after copies were tracked. */
  tracked(): void;
}

/** Above either of these, over all partners, the intake waits. */
const WAITING_MAX = 5_000;
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
const BATCH_MAX = 100;
const RETRY_MS = 1_000;

export class EndpointFanOut {
  /** Events by partner, in the order of their arrival: one worker for each partner. */
  private readonly waiting = new Map<string, Unsettled<Delivery>[]>();
  private count = 0;
  private bytes = 0;

  constructor(private readonly deps: EndpointFanOutDependencies) {}

  isFull(): boolean {
    return this.count > WAITING_MAX || this.bytes > WAITING_BYTES_MAX;
  }

  /**
   * Returns the message for the webhook URL. A partner that is known to have no endpoints costs
   * only this check; otherwise the offset waits for the copies too. Undefined for an extra event,
   * whose copy for the webhook URL waits for the look-up.
   */
  split(received: Unsettled<Delivery>): Unsettled<Delivery> | undefined {
    const { message } = received;
    if (isExtraEvent(message.event)) return void this.enqueue(received);
    const known = this.deps.receivers.peek(message.partner_id);
    if (known && known.endpoints.length === 0) return received;
    const copies = copiesOf(received, 2);
    this.enqueue(copies);
    return copies;
  }

  private enqueue(received: Unsettled<Delivery>): void {
    const { partner_id, body } = received.message;
    this.count += 1;
    this.bytes += body.length;
    const queue = this.waiting.get(partner_id);
    if (queue) queue.push(received);
    else {
      this.waiting.set(partner_id, [received]);
      void this.work(partner_id);
    }
  }

  private async work(partner_id: string): Promise<void> {
    const { log, signal } = this.deps;
    for (;;) {
      const batch = (this.waiting.get(partner_id) ?? []).slice(0, BATCH_MAX);
      if (batch.length === 0 || signal.aborted) break;
      try {
        await this.spread(partner_id, batch);
      } catch (error) {
        log.warn({ err: error, partner_id }, 'failed to look up webhook endpoints');
        await pause(RETRY_MS, signal);
        continue;
      }
      this.waiting.get(partner_id)?.splice(0, batch.length);
      this.count -= batch.length;
      for (const { message } of batch) this.bytes -= message.body.length;
      this.deps.tracked();
    }
    this.waiting.delete(partner_id);
  }

  private async spread(partner_id: string, batch: Unsettled<Delivery>[]): Promise<void> {
    const { receivers, seen, signal, track } = this.deps;
    const { endpoints, extra_events } = await receivers.of(partner_id, batch[0]?.span, signal);
    const wanted = batch.map(({ message }): Array<ReceiverEndpoint | undefined> => {
      const of_endpoints = endpoints.filter((one) => isWanted(one, message));
      return extra_events.includes(message.event) ? [undefined, ...of_endpoints] : of_endpoints;
    });
    const keys = batch.flatMap(({ message }, index) =>
      (wanted[index] ?? []).map((one) => deliveryKey(message.event_id, one?.endpoint_id)),
    );
    const delivered = new Set<string>();
    if (keys.length > 0) {
      const known = await seen.hasEach(keys);
      for (const [index, key] of keys.entries()) if (known[index]) delivered.add(key);
    }
    for (const [index, received] of batch.entries()) {
      const { event_id } = received.message;
      const missing = (wanted[index] ?? []).filter(
        (one) => !delivered.has(deliveryKey(event_id, one?.endpoint_id)),
      );
      // This message's own copy is settled by the last of the endpoints' copies.
      if (missing.length === 0) received.done();
      else {
        const copies = copiesOf(received, missing.length);
        for (const endpoint of missing) track(copies, endpoint);
      }
    }
  }
}

/**
 * A message whose offset is settled once `done` was called `count` times. If a copy is forgotten,
 * the count is never reached: the whole message is.
 */
function copiesOf(received: Unsettled<Delivery>, count: number): Unsettled<Delivery> {
  let left = count;
  return {
    ...received,
    done() {
      left -= 1;
      if (left === 0) received.done();
    },
  };
}
