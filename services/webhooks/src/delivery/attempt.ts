// One attempt: signs a delivery, posts it to the receiver and classifies the answer. An attempt at
// a destination differs only in how the event is sent (destination-attempt.ts).
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
  type Waited,
} from '@bmg/common/telemetry';
import type { Destination } from '@bmg/proto/common';
import { factsOf, type Destinations } from './destination-attempt';
import { formatted } from './formats';
import { deliveryKey, receiverKey } from './receiver-key';
import { describeAddress, type Address, type Receiver } from './receivers';
import { reportWaits, type Way } from './waits';
import { isDelivered, parseRetryAfter, type ReceiverAnswer } from './retry-schedule';
import type { Seen } from './seen';
import { signatureHeaders } from './sign-delivery';
import type { Deliveries } from './store';

export interface Attempt {
  event_id: string;
  partner_id: string;
  /** Absent for the partner's webhook URL. */
  endpoint_id?: string | undefined;
  event: string;
  waba_id: string;
  body: Buffer;
  received_at_ms: number;
  /** Events of one key keep their order at a destination; absent without an order. */
  ordering_key?: string | undefined;
  /** The event was logged earlier. */
  is_replay?: boolean;
  /** 1 for the first attempt of the delivery. */
  number: number;
  /** The way of an event that is attempted for the first time. */
  way?: Way | undefined;
  span: SpanContext | undefined;
}

export interface Outcome extends ReceiverAnswer {
  /** `dropped`: the partner takes no events, so the delivery ends without being delivered. */
  result: 'delivered' | 'dropped' | 'refused';
  /** A short reason for the failed list: `timeout`, `HTTP 500`, `no webhook URL`. */
  error: string | null;
  /** False if nothing was sent, so that the outcome is no evidence about the receiver. */
  posted: boolean;
  /** The log entry of the attempt; absent if nothing was sent. */
  trace?: PostTrace;
}

/** Takes the outcome of each attempt, with the receiver as the attempt found it. */
export type RecordAttempt = (attempt: Attempt, outcome: Outcome, receiver: Receiver) => void;

export interface PostTrace {
  /** Epoch milliseconds. */
  at: number;
  duration_ms: number;
  url: string;
  /** Fingerprint of the newest secret; null for a destination, which has none. */
  secret: string | null;
  /** The beginning of the receiver's answer. */
  answer: string | null;
}

/** How attempts reach receivers. */
export interface Ways {
  agent: GuardedAgent;
  destinations: Destinations;
}

/** Contract 13.2: a delivery must be answered within 10 s. */
const ANSWER_TIMEOUT_MS = 10_000;

/**
 * Never throws for a receiver that refuses, hangs or is unreachable: the outcome reports it. It
 * ends at once, without a POST, for a partner that is unknown, inactive or without a webhook URL.
 */
export async function postAttempt(
  attempt: Attempt,
  receiver: Receiver,
  { agent, destinations }: Ways,
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
  const { answer, ...outcome }: Outcome & { answer?: Buffer } = await (to.destination
    ? destinations.send(attempt, to.destination, to.format, context)
    : postSigned(attempt, to, agent, context));
  const duration_ms = performance.now() - started;
  const seconds = duration_ms / 1_000;
  const name = outcome.result === 'delivered' ? 'delivered' : (outcome.error ?? 'refused');
  const label = labelOf(outcome, to) ?? name;
  metrics.deliveries.inc({ outcome: label });
  metrics.delivery_duration.observe({ outcome: label }, seconds, context);
  let waited_ms: Waited | undefined;
  // A destination waits for its batch, and an event that is replayed has waited in the log.
  if (outcome.result === 'delivered' && !to.destination && !attempt.is_replay) {
    const delay_ms = Math.max(0, Date.now() - attempt.received_at_ms);
    metrics.delivery_delay.observe({}, delay_ms / 1_000, context);
    waited_ms = reportWaits(attempt, { delay_ms, receiver_ms: duration_ms }, context);
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
      ...(waited_ms && { waited_ms }),
      ...traceIds(context),
    },
    'delivery',
  );
  const { url, secret } = to.destination
    ? { url: factsOf(to.destination).address, secret: null }
    : describeAddress(to.of, to);
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

/** Few values: the failures of destinations are texts. */
function labelOf({ result, http_status }: Outcome, { destination }: Target): string | undefined {
  if (http_status !== undefined) return `${Math.floor(http_status / 100)}xx`;
  if (!destination) return undefined;
  return result === 'delivered' ? 'stored' : 'not_stored';
}

/** Where an attempt goes, and in which form. */
type Target = UrlTarget | { destination: Destination; format: string };

interface UrlTarget extends SignedTarget {
  /** The cached answer of the directory that it is from. */
  of: object;
  destination?: undefined;
}

export interface SignedTarget extends Address {
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
    const { destination, format } = endpoint;
    return destination
      ? { destination, format }
      : { of: endpoint, ...endpoint, destination: undefined };
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

/** Never rejects. The receiver has connections of its own, named after partner and endpoint. */
export async function postSigned(
  attempt: Attempt,
  { url, secrets, format, headers: own }: SignedTarget,
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

export interface AttemptNowDependencies extends Ways {
  deliveries: Deliveries;
  seen: Seen;
  log: Logger;
  recordAttempt: RecordAttempt;
  /** Makes this replica stop scheduling the delivery. */
  untrack(delivery_key: string): void;
}

/**
 * One attempt outside the schedule: a manual retry, or the replay of a logged event. A delivered
 * event leaves the schedule; the caller decides about a refused one.
 */
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
