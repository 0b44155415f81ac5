// Forwards the payment processor's webhooks, unparsed, to onboarding, which knows the secret that
// signs them. They are answered 200 once onboarding has applied them; while it is unreachable, 503
// makes the processor post again. Until onboarding has verified one, its sender is anonymous: a
// network whose webhooks keep failing the verification is refused before onboarding is called.
import { randomUUID } from 'node:crypto';
import { ApiError, type ErrorCode } from '@bmg/common/errors';
import { LRUCache } from '@bmg/common/cache';
import { createBound, createTokens } from '@bmg/common/overload';
import type { Client } from '@bmg/common/rpc';
import {
  endSpan,
  metrics,
  parseTraceparent,
  SpanKind,
  startSpan,
  traceIds,
  type Logger,
} from '@bmg/common/telemetry';
import type { PaymentsDefinition } from '@bmg/proto/billing';

export interface PaymentWebhook {
  body: Buffer;
  signature: string;
  traceparent: string | undefined;
  /** The network of the sender. */
  network: string;
}

/** Shorter than the processor waits for an answer: about 20 s. */
const TIMEOUT_MS = 15_000;
const UNAVAILABLE = 503;
const NOT_FOUND = 404;
const UNAUTHORIZED = 401;
const TOO_MANY = 429;
/** Failed verifications of a network: each costs onboarding a call and the hash of a body. */
export const FAILURES_AT_ONCE = { burst: 10, per_s: 0.2 };
/**
 * Failures of all networks together that had no webhook verified yet: an IPv6 prefix has
 * thousands of networks. Those that had one verified, as the processor's, are not limited by
 * others.
 */
export const FAILURES_OF_STRANGERS = { burst: 200, per_s: 10 };
const STRANGERS = 'all';
const VERIFIED_MAX = 1_000;
/** Webhooks that onboarding applies at a time; the processor posts the others again. */
const IN_FLIGHT_MAX = 16;
/** How long onboarding's answer "no payment processor" is cached. */
const ABSENT_MS = 10_000;

const STATUS: Partial<Record<ErrorCode, number>> = {
  UNAUTHORIZED,
  INVALID_PAYLOAD: 400,
  // This endpoint exists only if there is a payment processor.
  NOT_CONFIGURED: NOT_FOUND,
};

export type PaymentEvents = ReturnType<typeof createPaymentEvents>;

export function createPaymentEvents(
  payments: Pick<Client<PaymentsDefinition>, 'handlePaymentEvent'>,
  log: Logger,
) {
  const in_flight = createBound(
    { server: 'ingress', reason: 'payment_webhooks', max: IN_FLIGHT_MAX },
    log,
  );
  const tries = createTokens(FAILURES_AT_ONCE);
  const tries_of_strangers = createTokens(FAILURES_OF_STRANGERS);
  const verified = new LRUCache<string, true>({ max: VERIFIED_MAX });
  let absent_until_ms = -Infinity;

  async function apply({ body, signature, traceparent }: PaymentWebhook): Promise<number> {
    const given = parseTraceparent(traceparent);
    const span = startSpan('POST /webhooks/payments', {
      kind: SpanKind.SERVER,
      links: given && [given],
      attributes: { 'http.route': '/webhooks/payments', 'bmg.bytes': body.length },
    });
    const context = span.spanContext();
    const line = { bytes: body.length, ...traceIds(context) };
    try {
      await payments.handlePaymentEvent(
        { body, signature },
        { deadline: Date.now() + TIMEOUT_MS, span: context, request_id: randomUUID() },
      );
      endSpan(span);
      log.info({ ...line, status: 200 }, 'payment webhook');
      return 200;
    } catch (error) {
      const code = error instanceof ApiError ? error.code : 'SERVER_ERROR';
      const status = STATUS[code] ?? UNAVAILABLE;
      endSpan(span, { code });
      log.warn({ err: error, ...line, status }, 'failed to apply payment webhook');
      return status;
    }
  }

  const shed = (reason: string): false => {
    metrics.requests_shed.inc({ server: 'ingress', reason });
    return false;
  };
  const mayPost = (network: string): boolean => {
    if (!tries.has(network)) return shed('payment_failures_of_network');
    if (verified.has(network) || tries_of_strangers.has(STRANGERS)) return true;
    return shed('payment_failures_of_strangers');
  };
  const note = (network: string, status: number): void => {
    if (status === 200) verified.set(network, true);
    if (status === NOT_FOUND) absent_until_ms = performance.now() + ABSENT_MS;
    if (status !== UNAUTHORIZED) return;
    tries.take(network);
    if (!verified.has(network)) tries_of_strangers.take(STRANGERS);
  };

  return {
    /** False for a network with too many failed verifications: 429, before the body is read. */
    mayPost,
    /** False while onboarding is known to have no payment processor: the path is unknown then. */
    exist: (): boolean => performance.now() >= absent_until_ms,
    /** Returns the HTTP status for the processor. */
    async forward(webhook: PaymentWebhook): Promise<number> {
      // Again, for bodies that arrived side by side.
      if (!mayPost(webhook.network)) return TOO_MANY;
      if (!in_flight.take()) return UNAVAILABLE;
      try {
        const status = await apply(webhook);
        note(webhook.network, status);
        return status;
      } finally {
        in_flight.give();
      }
    },
  };
}

/** Onboarding's check has the same age. */
const AGE_MAX_S = 300;
const HEADER_MAX = 1_024;
const TIMESTAMP = /^t=(\d{1,12})$/;
const SIGNATURE = /^v1=[0-9a-f]{64}$/i;

/**
 * True if the Stripe-Signature header of a webhook is worth forwarding: it has a recent time and a
 * signature of the right form. `now_s` in epoch seconds.
 */
export function mayBePaymentSignature(
  header: string | string[] | undefined,
  now_s: number,
): header is string {
  if (typeof header !== 'string' || header.length > HEADER_MAX) return false;
  const parts = header.split(',').map((part) => part.trim());
  const times = parts.flatMap((part) => TIMESTAMP.exec(part)?.[1] ?? []);
  const is_recent = times.some((time) => now_s - Number(time) <= AGE_MAX_S);
  return is_recent && parts.some((part) => SIGNATURE.test(part));
}
