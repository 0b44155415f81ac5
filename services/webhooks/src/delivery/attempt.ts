// One attempt: signs a delivery, posts it to the receiver and classifies the answer.
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
import { formatted } from './formats';
import { receiverKey } from './receiver-key';
import { describeAddress, type Address, type Receiver } from './receivers';
import { isDelivered, parseRetryAfter, type ReceiverAnswer } from './retry-schedule';
import { signatureHeaders } from './sign-delivery';

export interface Attempt {
  event_id: string;
  partner_id: string;
  /** Absent for the partner's webhook URL. */
  endpoint_id?: string | undefined;
  event: string;
  waba_id: string;
  body: Buffer;
  received_at_ms: number;
  /** 1 for the first attempt of the delivery. */
  number: number;
  span: SpanContext | undefined;
}

export interface Outcome extends ReceiverAnswer {
  /** `dropped`: the partner takes no events, so the delivery ends without being delivered. */
  result: 'delivered' | 'dropped' | 'refused';
  /** A short reason for the failed list: `timeout`, `HTTP 500`, `no webhook URL`. */
  error: string | null;
  /** False if no POST was made, so that the outcome is no evidence about the receiver. */
  posted: boolean;
  /**
   * The log entry of a POST: the address without the query, the secret that signed, and the
   * outcome.
   */
  trace?: PostTrace;
}

/** Takes the outcome of each attempt into the event log. */
export type RecordAttempt = (attempt: Attempt, outcome: Outcome) => void;

export interface PostTrace {
  /** Epoch milliseconds. */
  at: number;
  duration_ms: number;
  url: string;
  /** Fingerprint of the newest secret. */
  secret: string;
  /** The beginning of the receiver's answer. */
  answer: string | null;
}

/** Contract 13.2: a delivery must be answered within 10 s. */
const ANSWER_TIMEOUT_MS = 10_000;

/**
 * Never throws for a receiver that refuses, hangs or is unreachable: the outcome reports it. Without
 * a POST it ends at once for a partner that is unknown, not active or has no webhook URL.
 */
export async function postAttempt(
  attempt: Attempt,
  receiver: Receiver,
  agent: GuardedAgent,
  log: Logger,
): Promise<Outcome> {
  const { event_id, partner_id, event } = attempt;
  const to = targetOf(attempt, receiver);
  if ('result' in to) return to;
  const span = startSpan(`deliver ${event}`, {
    kind: SpanKind.PRODUCER,
    parent: attempt.span,
    attributes: { 'bmg.event': event, 'bmg.attempt': attempt.number },
  });
  const context = span.spanContext();
  const started = performance.now();
  const at = Date.now();
  const { answer, ...outcome } = await post(attempt, to, agent, context);
  const duration_ms = performance.now() - started;
  const seconds = duration_ms / 1_000;
  const name = outcome.result === 'delivered' ? 'delivered' : (outcome.error ?? 'refused');
  const label =
    outcome.http_status === undefined ? name : `${Math.floor(outcome.http_status / 100)}xx`;
  metrics.deliveries.inc({ outcome: label });
  metrics.delivery_duration.observe({ outcome: label }, seconds, context);
  if (outcome.result === 'delivered') {
    const delay_ms = Math.max(0, Date.now() - attempt.received_at_ms);
    metrics.delivery_delay.observe({}, delay_ms / 1_000, context);
  }
  endSpan(span, outcome.result === 'delivered' ? undefined : { code: name });
  log.info(
    {
      event_id,
      partner_id,
      endpoint_id: attempt.endpoint_id,
      event,
      attempt: attempt.number,
      outcome: name,
      status: outcome.http_status,
      duration_ms: Math.round(duration_ms * 1e3) / 1e3,
      ...traceIds(context),
    },
    'delivery',
  );
  const { url, secret } = describeAddress(to.of, to);
  return {
    ...outcome,
    trace: {
      at,
      duration_ms: Math.round(duration_ms),
      url,
      secret,
      answer: answer && answer.length > 0 ? answer.toString('utf8') : null,
    },
  };
}

/** Where an attempt goes, and in which form. */
interface Target extends Address {
  /** The cached answer of the directory that it is from. */
  of: object;
  format: string;
  headers: Readonly<Record<string, string>>;
}

const NO_HEADERS = {};

/** The target of an attempt, or the outcome of one that ends without a POST. */
function targetOf(attempt: Attempt, receiver: Receiver): Target | Outcome {
  const { status, webhook_url, webhook_secrets, endpoints } = receiver;
  const ends = (result: 'dropped' | 'refused', error: string): Outcome => ({
    result,
    error,
    posted: false,
  });
  if (status === 'unknown') return ends('dropped', 'no such partner');
  if (status !== 'active') return ends('refused', `partner is ${status}`);
  if (attempt.endpoint_id !== undefined) {
    const endpoint = endpoints.find(({ endpoint_id }) => endpoint_id === attempt.endpoint_id);
    if (!endpoint) return ends('dropped', 'no such endpoint');
    if (endpoint.status !== 'active') return ends('refused', `endpoint is ${endpoint.status}`);
    return { of: endpoint, ...endpoint };
  }
  if (!webhook_url) {
    // Contract 13.6: without a webhook URL, new events are not stored for later.
    return ends(attempt.number === 1 ? 'dropped' : 'refused', 'no webhook URL');
  }
  return {
    of: receiver,
    url: webhook_url,
    secrets: webhook_secrets,
    format: 'envelope',
    headers: NO_HEADERS,
  };
}

async function post(
  attempt: Attempt,
  { url, secrets, format, headers: own }: Target,
  agent: GuardedAgent,
  context: SpanContext,
): Promise<Outcome & { answer?: Buffer }> {
  const { event_id, partner_id, endpoint_id } = attempt;
  try {
    const { body, headers: form } = formatted(attempt, format);
    const { status, headers, answer } = await guardedPost(url, body, {
      agent,
      // Connections of its own for each receiver of a partner.
      pool: receiverKey({ partner_id, endpoint_id }),
      timeout_ms: ANSWER_TIMEOUT_MS,
      headers: {
        ...own,
        ...form,
        'user-agent': 'business-messaging-gateway',
        traceparent: traceparent(context),
        ...signatureHeaders(body, secrets, event_id, Math.floor(Date.now() / 1_000)),
      },
    });
    if (isDelivered({ http_status: status })) {
      return { result: 'delivered', http_status: status, error: null, posted: true, answer };
    }
    return {
      result: 'refused',
      http_status: status,
      retry_after_ms: parseRetryAfter(headers['retry-after'], Date.now()),
      error: `HTTP ${status}`,
      posted: true,
      answer,
    };
  } catch (error) {
    const reason = error instanceof PostFailed ? error.reason : 'failed';
    return { result: 'refused', error: reason, posted: true };
  }
}
