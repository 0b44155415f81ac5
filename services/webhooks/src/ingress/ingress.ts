// Where webhooks enter. The upstream's: verify the signature over the raw bytes, have Kafka take
// them with all in-sync replicas, answer. The payment processor's are handed on to onboarding. 200
// means safe; anything else makes the sender try again.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { timingSafeEqual } from 'node:crypto';
import { topics, type Bus } from '@bmg/common/bus';
import { BodyRefused, createBound, createBoundedServer, readBody } from '@bmg/common/overload';
import { within, type Component } from '@bmg/common/lifecycle';
import {
  endSpan,
  metrics,
  parseTraceparent,
  SpanKind,
  startSpan,
  traceIds,
  type Logger,
} from '@bmg/common/telemetry';
import type { PaymentEvents } from './payment-events';
import { split } from './split';
import { isSignedByUpstream } from './upstream-signature';

export interface IngressSettings {
  INGRESS_HOST: string;
  INGRESS_PORT: number;
  UPSTREAM_APP_SECRET: string;
  UPSTREAM_VERIFY_TOKEN: string;
}

export interface Ingress extends Component {
  port(): number;
}

const PATH = '/webhooks/upstream';
const PAYMENTS_PATH = '/webhooks/payments';
/** The upstream's bodies may have 3 MB. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
const PAYMENTS_LIMIT_BYTES = 1024 * 1024;
const RETRY_AFTER_S = '5';
/** Bodies in memory; more come again later. */
const HELD_BYTES_MAX = 128 * 1024 * 1024;
/** The upstream does not wait for ever, and neither do its connections. */
const PUBLISH_LIMIT_MS = 8_000;
const STOP_LIMIT_MS = 5_000;

/** What becomes of a body of that size at most: answers, and tells the status. */
interface Kind {
  limit_bytes: number;
  accept(body: Buffer, request: IncomingMessage, response: ServerResponse): Promise<number>;
}

export function createIngress(
  settings: IngressSettings,
  bus: Bus,
  payments: PaymentEvents,
  log: Logger,
): Ingress {
  const server = createBoundedServer({ server: 'ingress' }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'a request could not be answered');
      response.destroy();
    });
  });
  const bodies = createBound({ server: 'ingress', reason: 'body_bytes', max: HELD_BYTES_MAX }, log);
  const kinds = new Map<string, Kind>([
    [PATH, { limit_bytes: BODY_LIMIT_BYTES, accept: acceptUpstream }],
    [PAYMENTS_PATH, { limit_bytes: PAYMENTS_LIMIT_BYTES, accept: acceptPayment }],
  ]);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = performance.now();
    const [path, query = ''] = (request.url ?? '/').split('?', 2);
    const kind = kinds.get(path ?? '');
    if (!kind) return end(response, 404, 'not found');
    if (request.method === 'GET' && path === PATH) {
      return verify(new URLSearchParams(query), response);
    }
    if (request.method !== 'POST') return end(response, 405, 'method not allowed');
    const status = await receive(request, response, kind);
    metrics.ingress_duration.observe(
      { http_response_status_code: String(status) },
      (performance.now() - started) / 1_000,
    );
  }

  /** The upstream checks the address: the challenge goes back as it came. */
  function verify(searchParams: URLSearchParams, response: ServerResponse): void {
    const token = searchParams.get('hub.verify_token') ?? '';
    if (
      searchParams.get('hub.mode') === 'subscribe' &&
      same(token, settings.UPSTREAM_VERIFY_TOKEN)
    ) {
      response.setHeader('content-type', 'text/plain; charset=utf-8');
      // Plain text under a policy that runs nothing: the challenge is echoed to whoever asks.
      response.setHeader('x-content-type-options', 'nosniff');
      return end(response, 200, searchParams.get('hub.challenge') ?? '');
    }
    end(response, 403, 'wrong verify token');
  }

  /** Not accepted: the sender comes again. */
  function tryAgain(response: ServerResponse): void {
    response.setHeader('Retry-After', RETRY_AFTER_S);
    end(response, 503, 'try again');
  }

  async function receive(
    request: IncomingMessage,
    response: ServerResponse,
    { limit_bytes, accept }: Kind,
  ): Promise<number> {
    let held = 0;
    const reserve = (bytes: number): boolean => {
      const taken = bodies.take(bytes);
      if (taken) held += bytes;
      return taken;
    };
    try {
      const body = await readBody(request, limit_bytes, reserve);
      return await accept(body, request, response);
    } catch (error) {
      if (error instanceof BodyRefused) return refuse(error, request, response);
      throw error;
    } finally {
      bodies.give(held);
    }
  }

  function refuse(
    { problem }: BodyRefused,
    request: IncomingMessage,
    response: ServerResponse,
  ): number {
    if (problem === 'incomplete') {
      request.destroy();
      return 400;
    }
    response.setHeader('Connection', 'close');
    if (problem === 'no_room') {
      tryAgain(response);
      return 503;
    }
    end(response, 413, 'too large');
    return 413;
  }

  async function acceptUpstream(
    body: Buffer,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<number> {
    const header = request.headers['x-hub-signature-256'];
    const signature = Array.isArray(header) ? header[0] : header;
    if (!isSignedByUpstream(body, signature, settings.UPSTREAM_APP_SECRET)) {
      end(response, 401, 'wrong signature');
      log.warn({ bytes: body.length }, 'an upstream webhook was not signed right');
      return 401;
    }
    const span = startSpan('POST /webhooks/upstream', {
      kind: SpanKind.SERVER,
      parent: parseTraceparent(request.headers['traceparent'] as string | undefined),
      attributes: { 'http.route': PATH, 'bmg.bytes': body.length },
    });
    const context = span.spanContext();
    try {
      const received_at_ms = Date.now();
      const messages = split(body).map(({ key, bytes }) => ({
        topic: topics.upstreamWebhook,
        key,
        message: { body: bytes, received_at_ms },
        span: context,
      }));
      await within(PUBLISH_LIMIT_MS, bus.publish(messages));
      end(response, 200, '');
      endSpan(span);
      log.info({ bytes: body.length, status: 200, ...traceIds(context) }, 'upstream webhook');
      return 200;
    } catch (error) {
      // Perhaps it is safe all the same; then its repetition is known by its content.
      tryAgain(response);
      endSpan(span, { code: 'kafka' });
      log.warn({ err: error, status: 503, ...traceIds(context) }, 'upstream webhook');
      return 503;
    }
  }

  async function acceptPayment(
    body: Buffer,
    { headers }: IncomingMessage,
    response: ServerResponse,
  ): Promise<number> {
    const signature = headers['stripe-signature'];
    const status = await payments({
      body,
      signature: typeof signature === 'string' ? signature : '',
      traceparent: headers['traceparent'] as string | undefined,
    });
    if (status === 503) tryAgain(response);
    else end(response, status, status === 200 ? '' : 'not taken');
    return status;
  }

  return {
    name: 'ingress',
    port: () => (server.address() as AddressInfo).port,
    start: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(settings.INGRESS_PORT, settings.INGRESS_HOST, resolve);
      }),
    drain: () => server.drain(),
    stop: () =>
      new Promise((resolve) => {
        const late = setTimeout(() => server.closeAllConnections(), STOP_LIMIT_MS);
        server.close(() => {
          clearTimeout(late);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

function end(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.end(text);
}

function same(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
