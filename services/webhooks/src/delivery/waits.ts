// What the slowest hundredth of the events waited for on their way from the ingress to the
// receiver.
import {
  metrics,
  observeWaits,
  slowest,
  type SpanContext,
  type Waited,
} from '@bmg/common/telemetry';

/** Epoch milliseconds, in this order. */
export interface Way {
  received: number;
  /** When Kafka got the webhook, and when fan-out read it, if the event is from one. */
  webhook_published: number | undefined;
  webhook_read: number | undefined;
  /** When Kafka got the delivery, and when this service read it. */
  delivery_published: number | undefined;
  delivery_read: number | undefined;
}

const isSlow = slowest();

/**
 * Undefined for all but the slowest events. `delay_ms` counts from the receipt of the webhook to
 * the receiver's answer, and `receiver_ms` from the start of the attempt.
 */
export function reportWaits(
  { way }: { way?: Way | undefined },
  { delay_ms, receiver_ms }: { delay_ms: number; receiver_ms: number },
  span: SpanContext,
): Waited | undefined {
  if (!way || !isSlow(delay_ms)) return undefined;
  return observeWaits(metrics.event_waits, {}, waitsOf(way, { delay_ms, receiver_ms }), span);
}

/** Between clocks of different machines a step may seem negative: it counts as none. */
export function waitsOf(
  way: Way,
  { delay_ms, receiver_ms }: { delay_ms: number; receiver_ms: number },
): Waited {
  const attempted = way.received + delay_ms - receiver_ms;
  const steps: Array<[string, number | undefined]> = [
    ['ingress', way.webhook_published],
    ['kafka_webhook', way.webhook_read],
    ['fanout', way.delivery_published],
    ['kafka_delivery', way.delivery_read],
    ['webhooks', attempted],
    ['receiver', attempted + receiver_ms],
  ];
  const waited: Waited = {};
  let before = way.received;
  for (const [what, at] of steps) {
    if (at === undefined) continue;
    waited[what] = Math.max(0, Math.round(at - before));
    before = at;
  }
  return waited;
}
