// One attempt: sign, post, judge.
import { guardedPost, PostFailed, type GuardedAgent } from '@bmg/common/outbound';
import {
  endSpan,
  metrics,
  SpanKind,
  startSpan,
  traceIds,
  traceparent,
  type Logger,
  type SpanContext,
} from '@bmg/common/telemetry';
import type { Receiver } from './receivers';
import { isDelivered, parseRetryAfter, type Attempt } from './retry-schedule';
import { signatureHeaders } from './sign-delivery';

/** What became of an attempt; `dropped` where the partner wants no events at all. */
export interface Outcome extends Attempt {
  result: 'delivered' | 'dropped' | 'refused';
  /** For the failed list: what went wrong, in a word. */
  error: string | null;
  /** Whether the receiver was asked at all. */
  asked: boolean;
}

export interface Posting {
  event_id: string;
  partner_id: string;
  event: string;
  body: Buffer;
  received_at_ms: number;
  attempt: number;
  span: SpanContext | undefined;
}

const ANSWER_LIMIT_MS = 10_000;

export async function attempt(
  posting: Posting,
  receiver: Receiver,
  agent: GuardedAgent,
  log: Logger,
): Promise<Outcome> {
  const { event_id, partner_id, event } = posting;
  // A partner without a webhook URL: events are not stored for later.
  if (receiver.status === 'unknown')
    return { result: 'dropped', error: 'no such partner', asked: false };
  if (receiver.status !== 'active')
    return { result: 'refused', error: `partner is ${receiver.status}`, asked: false };
  if (!receiver.webhook_url) {
    return posting.attempt === 1
      ? { result: 'dropped', error: 'no webhook URL', asked: false }
      : { result: 'refused', error: 'no webhook URL', asked: false };
  }
  const span = startSpan(`deliver ${event}`, {
    kind: SpanKind.PRODUCER,
    parent: posting.span,
    attributes: { 'bmg.event': event, 'bmg.attempt': posting.attempt },
  });
  const context = span.spanContext();
  const started = performance.now();
  const outcome = await post(posting, receiver.webhook_url, receiver, agent, context);
  const seconds = (performance.now() - started) / 1_000;
  const name = outcome.result === 'delivered' ? 'delivered' : (outcome.error ?? 'refused');
  const label =
    outcome.http_status === undefined ? name : `${Math.floor(outcome.http_status / 100)}xx`;
  metrics.deliveries.inc({ outcome: label });
  metrics.delivery_duration.observe({ outcome: label }, seconds, context);
  if (outcome.result === 'delivered') {
    const delay_ms = Math.max(0, Date.now() - posting.received_at_ms);
    metrics.delivery_delay.observe({}, delay_ms / 1_000, context);
  }
  endSpan(span, outcome.result === 'delivered' ? undefined : { code: name });
  log.info(
    {
      event_id,
      partner_id,
      event,
      attempt: posting.attempt,
      outcome: name,
      status: outcome.http_status,
      duration_ms: Math.round(seconds * 1e6) / 1e3,
      ...traceIds(context),
    },
    'delivery',
  );
  return outcome;
}

async function post(
  { event_id, body }: Posting,
  url: string,
  { webhook_secrets }: Receiver,
  agent: GuardedAgent,
  context: SpanContext,
): Promise<Outcome> {
  try {
    const { status, headers } = await guardedPost(url, body, {
      agent,
      timeout_ms: ANSWER_LIMIT_MS,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'business-messaging-gateway',
        traceparent: traceparent(context),
        ...signatureHeaders(body, webhook_secrets, event_id, Math.floor(Date.now() / 1_000)),
      },
    });
    if (isDelivered({ http_status: status })) {
      return { result: 'delivered', http_status: status, error: null, asked: true };
    }
    return {
      result: 'refused',
      http_status: status,
      retry_after_ms: parseRetryAfter(headers['retry-after'], Date.now()),
      error: `HTTP ${status}`,
      asked: true,
    };
  } catch (error) {
    const reason = error instanceof PostFailed ? error.reason : 'failed';
    return { result: 'refused', error: reason, asked: true };
  }
}
