// Forwards the payment processor's webhooks, unread, to onboarding, which knows the secret that
// signs them. They are answered 200 once onboarding has applied them; while it is away, 503 makes
// the processor post again.
import { randomUUID } from 'node:crypto';
import { ApiError, type ErrorCode } from '@bmg/common/errors';
import type { Client } from '@bmg/common/rpc';
import {
  endSpan,
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
}

/** Returns the HTTP status for the processor. */
export type PaymentEvents = (webhook: PaymentWebhook) => Promise<number>;

/** Shorter than the processor waits for an answer: about 20 s. */
const TIMEOUT_MS = 15_000;
const UNAVAILABLE = 503;

const STATUS: Partial<Record<ErrorCode, number>> = {
  UNAUTHORIZED: 401,
  INVALID_PAYLOAD: 400,
  // Without a payment processor this endpoint does not exist.
  NOT_CONFIGURED: 404,
};

export const createPaymentEvents =
  (payments: Pick<Client<PaymentsDefinition>, 'handlePaymentEvent'>, log: Logger): PaymentEvents =>
  async ({ body, signature, traceparent }) => {
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
  };
