// The upstream's endpoint: answers its verification request, and takes its webhooks into Kafka. 200
// means that all in-sync replicas have the body; any other status makes the upstream post it again.
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { topics, type Bus } from '@bmg/common/bus';
import { within } from '@bmg/common/lifecycle';
import {
  endSpan,
  parseTraceparent,
  SpanKind,
  startSpan,
  traceIds,
  type Logger,
} from '@bmg/common/telemetry';
import { split } from '@bmg/common/upstream-webhook';
import { send, TAKEN, TRY_AGAIN, type Reply } from './reply';
import { isSignedByUpstream } from '../ground/upstream-signature';

export const UPSTREAM_PATH = '/webhooks/upstream';
/** Shorter than the upstream waits for an answer. */
const PUBLISH_TIMEOUT_MS = 8_000;

/** GET: the upstream verifies the address; its challenge is echoed if the token is ours. */
export function verifyAddress(query: string, verify_token: string, response: ServerResponse): void {
  const params = new URLSearchParams(query);
  const token = params.get('hub.verify_token') ?? '';
  if (params.get('hub.mode') !== 'subscribe' || !isSame(token, verify_token)) {
    return send(response, { status: 403, text: 'wrong verify token' });
  }
  // Plain text that no browser may interpret, because the challenge is echoed unchanged.
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  response.setHeader('x-content-type-options', 'nosniff');
  send(response, { status: 200, text: params.get('hub.challenge') ?? '' });
}

/** True if the upstream signed these bytes. */
export function isGenuineUpstreamWebhook(
  { settings, log }: { settings: { UPSTREAM_APP_SECRET: string }; log: Logger },
  body: Buffer,
  headers: IncomingHttpHeaders,
): boolean {
  const header = headers['x-hub-signature-256'];
  const signature = Array.isArray(header) ? header[0] : header;
  const isGenuine = isSignedByUpstream(body, signature, settings.UPSTREAM_APP_SECRET);
  if (!isGenuine)
    log.warn({ bytes: body.length }, 'rejected upstream webhook with wrong signature');
  return isGenuine;
}

/** POST: publishes the verified bytes. Returns the answer. */
export async function acceptUpstreamWebhook(
  { bus, log }: { bus: Bus; log: Logger },
  body: Buffer,
  headers: IncomingHttpHeaders,
): Promise<Reply> {
  const given = parseTraceparent(headers['traceparent'] as string | undefined);
  const span = startSpan('POST /webhooks/upstream', {
    kind: SpanKind.SERVER,
    links: given && [given],
    attributes: { 'http.route': UPSTREAM_PATH, 'bmg.bytes': body.length },
  });
  const context = span.spanContext();
  try {
    const received_at_ms = Date.now();
    const messages = split(body).map(({ key, bytes }) => ({
      topic: topics.webhook,
      key,
      message: { body: bytes, received_at_ms, reconciled: false },
      span: context,
    }));
    await within(PUBLISH_TIMEOUT_MS, bus.publish(messages));
    endSpan(span);
    log.info({ bytes: body.length, status: 200, ...traceIds(context) }, 'upstream webhook');
    return TAKEN;
  } catch (error) {
    // Kafka may have it all the same: the repetition then gets the same event ids.
    endSpan(span, { code: 'kafka' });
    log.warn({ err: error, status: 503, ...traceIds(context) }, 'upstream webhook');
    return TRY_AGAIN;
  }
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
