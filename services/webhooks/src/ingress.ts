// Where the upstream's webhooks enter: verify the signature over the raw bytes, have Kafka take them with
// all in-sync replicas, answer. 200 means safe; anything else makes the upstream try again.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { timingSafeEqual } from 'node:crypto';
import { topics, type Bus } from '@bmg/common/bus';
import type { Component } from '@bmg/common/lifecycle';
import {
  endSpan,
  metrics,
  parseTraceparent,
  SpanKind,
  startSpan,
  traceIds,
  type Logger,
} from '@bmg/common/telemetry';
import { split } from './split';
import { isSignedByUpstream } from './signature';

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
/** The upstream's bodies may have 3 MB. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
const HEADERS_LIMIT_MS = 10_000;
const REQUEST_LIMIT_MS = 30_000;
const KEEPALIVE_MS = 65_000;
const RETRY_AFTER_S = '5';
/** Bodies in memory; more come again later. */
const HELD_BYTES_MAX = 128 * 1024 * 1024;
/** The upstream does not wait for ever, and neither do its connections. */
const PUBLISH_LIMIT_MS = 8_000;
const STOP_LIMIT_MS = 5_000;

export function createIngress(settings: IngressSettings, bus: Bus, log: Logger): Ingress {
  const server: Server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'a request could not be answered');
      response.destroy();
    });
  });
  server.headersTimeout = HEADERS_LIMIT_MS;
  server.requestTimeout = REQUEST_LIMIT_MS;
  server.keepAliveTimeout = KEEPALIVE_MS;
  let stopping = false;
  let held_bytes = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = performance.now();
    if (stopping) response.setHeader('Connection', 'close');
    const [path, query = ''] = (request.url ?? '/').split('?', 2);
    if (path !== PATH) return end(response, 404, 'not found');
    if (request.method === 'GET') return verify(new URLSearchParams(query), response);
    if (request.method !== 'POST') return end(response, 405, 'method not allowed');
    const status = await receive(request, response);
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

  /** Not accepted: the upstream comes again. */
  function tryAgain(response: ServerResponse): void {
    response.setHeader('Retry-After', RETRY_AFTER_S);
    end(response, 503, 'try again');
  }

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<number> {
    if (held_bytes > HELD_BYTES_MAX) {
      response.setHeader('Connection', 'close');
      tryAgain(response);
      return 503;
    }
    const body = await readRaw(request);
    if (body === 'broken') {
      request.destroy();
      return 400;
    }
    if (body === 'too large') {
      response.setHeader('Connection', 'close');
      end(response, 413, 'too large');
      return 413;
    }
    held_bytes += body.length;
    return accept(body, request, response).finally(() => (held_bytes -= body.length));
  }

  async function accept(
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

  return {
    name: 'ingress',
    port: () => (server.address() as AddressInfo).port,
    start: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(settings.INGRESS_PORT, settings.INGRESS_HOST, resolve);
      }),
    stop: () =>
      new Promise((resolve) => {
        stopping = true;
        const late = setTimeout(() => server.closeAllConnections(), STOP_LIMIT_MS);
        server.close(() => {
          clearTimeout(late);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

async function readRaw(request: IncomingMessage): Promise<Buffer | 'too large' | 'broken'> {
  if (Number(request.headers['content-length'] ?? 0) > BODY_LIMIT_BYTES) return 'too large';
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > BODY_LIMIT_BYTES) return 'too large';
      chunks.push(chunk);
    }
  } catch {
    return 'broken';
  }
  return Buffer.concat(chunks, size);
}

async function within(limit_ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${limit_ms} ms`)), limit_ms);
  });
  await Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

function end(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.end(text);
}

function same(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
