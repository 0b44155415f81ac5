// The payment processor's webhooks: handed to onboarding as they came, which knows the secret that
// signs them. 200 is answered once they are applied there; while it is away the processor is told
// to come again.
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

/** Answers the HTTP status. */
export type PaymentEvents = (webhook: PaymentWebhook) => Promise<number>;

/** The processor waits some twenty seconds. */
const LIMIT_MS = 15_000;
const AWAY = 503;

const STATUS: Partial<Record<ErrorCode, number>> = {
  UNAUTHORIZED: 401,
  INVALID_PAYLOAD: 400,
  // No processor is configured: there is nothing here.
  NOT_CONFIGURED: 404,
};

export const createPaymentEvents =
  (payments: Pick<Client<PaymentsDefinition>, 'handlePaymentEvent'>, log: Logger): PaymentEvents =>
  async ({ body, signature, traceparent }) => {
    const span = startSpan('POST /webhooks/payments', {
      kind: SpanKind.SERVER,
      parent: parseTraceparent(traceparent),
      attributes: { 'http.route': '/webhooks/payments', 'bmg.bytes': body.length },
    });
    const context = span.spanContext();
    const line = { bytes: body.length, ...traceIds(context) };
    try {
      await payments.handlePaymentEvent(
        { body, signature },
        { deadline: Date.now() + LIMIT_MS, span: context, request_id: randomUUID() },
      );
      endSpan(span);
      log.info({ ...line, status: 200 }, 'payment webhook');
      return 200;
    } catch (error) {
      const code = error instanceof ApiError ? error.code : 'SERVER_ERROR';
      const status = STATUS[code] ?? AWAY;
      endSpan(span, { code });
      log.warn({ err: error, ...line, status }, 'a payment webhook was not taken');
      return status;
    }
  };
