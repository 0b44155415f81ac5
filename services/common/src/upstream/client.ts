// The HTTP client of the upstream platform: keep-alive connections, the version segment, tokens in
// a header, a span and a metric per request. Every failure becomes an ApiError.
import { Agent, FormData, type Dispatcher } from 'undici';
import { ApiError } from '../errors';
import type { Component } from '../lifecycle';
import { HOP_MS, type Call } from '../rpc';
import { traceparent, type Span } from '../telemetry';
import type { Json } from './answers';
import { isUnanswered, judge, observed, UNREACHABLE } from './exchange';

export interface UpstreamSettings {
  UPSTREAM_URL: string;
  UPSTREAM_API_VERSION: string;
  UPSTREAM_TIMEOUT_MS: number;
}

export interface UpstreamRequest {
  /** For spans and metrics: a bounded set of names, e.g. `POST /{phone_number_id}/messages`. */
  operation: string;
  method: 'GET' | 'POST' | 'DELETE';
  /** Path after the version segment; ids in it are already encoded (see `segment`). */
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: Json | FormData | undefined;
  token?: string | undefined;
  /** Text to remove from errors, beside the token: an app secret, a code. */
  secrets?: string[] | undefined;
  /** A send: an error with an unknown outcome is not retryable. */
  send?: boolean | undefined;
  timeout_ms?: number;
  /**
   * Called once the request is encoded and its connection is open; its first byte leaves in the same turn
   * of the event loop in which the promise resolves. If it rejects, nothing leaves, and the request fails
   * with its error. Only for a JSON body.
   */
  beforeWrite?: () => Promise<void>;
  /** A read that must not be repeated because it consumes something, such as a sign-up code. */
  once?: boolean;
  /** True for an answer that counts as a success although it contains an error. */
  accept?: ((body: Json) => boolean) | undefined;
  /** Called with the head of the answer, an error's included. */
  onAnswer?: (head: AnswerHead) => void;
}

export interface AnswerHead {
  http_status: number;
  /** The upstream's own id of the answer. */
  trace_id: string | undefined;
}

export interface Upstream extends Component {
  request(request: UpstreamRequest, call: Call): Promise<Json>;
}

const CONNECTIONS_MAX = 256;
const KEEPALIVE_MS = 30_000;
const CONNECT_LIMIT_MS = 3_000;
/** JSON answers are far smaller; files use the transfer client. */
const ANSWER_LIMIT_BYTES = 8 * 1024 * 1024;
/** The upstream's id of an answer; errors also have it in their body. */
const TRACE_ID = 'x-fb-trace-id';
/** With less time than this left, a request is not sent: its answer would come too late. */
const WORTHWHILE_MS = 20;

/** An id as one path segment: slashes and dots in it cannot reach another path. */
export function segment(id: string): string {
  const encoded = encodeURIComponent(id);
  return encoded === '.' || encoded === '..' ? encoded.replaceAll('.', '%2E') : encoded;
}

/** Where the requests go, and how long one may take. */
interface Connection {
  agent: Agent;
  origin: string;
  /** The path before the request's own, with the version segment. */
  prefix: string;
  timeout_ms: number;
}

export function createUpstream(settings: UpstreamSettings): Upstream {
  const base = new URL(settings.UPSTREAM_URL);
  const agent = new Agent({
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    // One request a connection, so that a slow answer holds back no other.
    allowH2: false,
    keepAliveTimeout: KEEPALIVE_MS,
    connect: { timeout: CONNECT_LIMIT_MS },
    maxResponseSize: ANSWER_LIMIT_BYTES,
  });
  const connection: Connection = {
    agent,
    origin: base.origin,
    prefix: `${base.pathname.replace(/\/$/, '')}/${settings.UPSTREAM_API_VERSION}`,
    timeout_ms: settings.UPSTREAM_TIMEOUT_MS,
  };
  return {
    name: 'upstream',
    async start() {},
    stop: () => agent.close(),
    request(request, call) {
      const { operation, method } = request;
      return observed({ operation, method, host: base.host, is_wait: true }, call, (span) => {
        const once = (): Promise<Json> => exchange(connection, request, call, span);
        return once().catch((error: unknown) => {
          // Only reads are repeated.
          if (method === 'GET' && !request.once && isUnanswered(error)) return once();
          throw error;
        });
      });
    },
  };
}

/** One request and its answer. The timeout covers both, a slow body included. */
async function exchange(
  connection: Connection,
  request: UpstreamRequest,
  call: Call,
  span: Span,
): Promise<Json> {
  const timeout_ms = Math.min(
    request.timeout_ms ?? connection.timeout_ms,
    call.deadline - HOP_MS - Date.now(),
  );
  if (timeout_ms < WORTHWHILE_MS) {
    throw noAnswer('the request timed out before it was sent to the upstream', { retryable: true });
  }
  const secrets = [...(request.secrets ?? []), ...(request.token ? [request.token] : [])];
  let status: number;
  let text: string;
  let trace_id: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let late = false;
  const gate = request.beforeWrite && createGate(encodeBody(request.body), request.beforeWrite);
  const started = performance.now();
  try {
    const answer = await connection.agent.request({
      origin: connection.origin,
      path: connection.prefix + request.path + queryText(request.query),
      method: request.method,
      headers: { ...headers(request, span), ...gate?.headers },
      body: gate ? gate.body : encodeBody(request.body),
      headersTimeout: timeout_ms,
    } as Dispatcher.RequestOptions & { origin: string });
    status = answer.statusCode;
    const traced = answer.headers[TRACE_ID];
    if (typeof traced === 'string') trace_id = traced;
    request.onAnswer?.({ http_status: status, trace_id });
    span.setAttribute('http.response.status_code', status);
    timer = setTimeout(
      () => {
        late = true;
        answer.body.destroy();
      },
      Math.max(0, timeout_ms - (performance.now() - started)),
    );
    text = await answer.body.text();
  } catch (error) {
    const is_closed = gate?.close() === true;
    if (error instanceof ApiError) throw error;
    const code = (error as { code?: string }).code;
    if (is_closed) {
      throw noAnswer('the connection to the upstream broke: nothing was sent', {
        retryable: true,
        cause: error,
      });
    }
    throw connectionFailure(error, request, late || code === 'UND_ERR_HEADERS_TIMEOUT');
  } finally {
    clearTimeout(timer);
  }
  const { method, send, accept } = request;
  return judge({ status, text, trace_id }, { secrets, send, accept, repeatable: method === 'GET' });
}

interface Gate {
  headers: Record<string, string>;
  body: AsyncIterable<Buffer>;
  /** True if nothing has left, and nothing will. */
  close(): boolean;
}

/**
 * A body that begins when `open` resolves. The client writes the head of a request together with the first
 * piece of its body, which it pulls once it has a connection: nothing leaves before that.
 */
function createGate(body: string | FormData | null, open: () => Promise<void>): Gate {
  const bytes = Buffer.from(typeof body === 'string' ? body : '', 'utf8');
  let has_left = false;
  let is_closed = false;
  async function* pieces(): AsyncGenerator<Buffer> {
    await open();
    if (is_closed) return;
    has_left = true;
    yield bytes;
  }
  return {
    headers: { 'content-length': String(bytes.length) },
    body: pieces(),
    close() {
      is_closed = !has_left;
      return is_closed;
    },
  };
}

function headers(request: UpstreamRequest, span: Span): Record<string, string> {
  return {
    accept: 'application/json',
    'user-agent': 'business-messaging-gateway',
    traceparent: traceparent(span.spanContext()),
    ...(request.token && { authorization: `Bearer ${request.token}` }),
    ...(request.body && !(request.body instanceof FormData)
      ? { 'content-type': 'application/json' }
      : {}),
  };
}

const encodeBody = (body: UpstreamRequest['body']): string | FormData | null =>
  body === undefined ? null : body instanceof FormData ? body : JSON.stringify(body);

function queryText(query: UpstreamRequest['query']): string {
  if (!query) return '';
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function connectionFailure(error: unknown, request: UpstreamRequest, timedOut: boolean): ApiError {
  const code = (error as { code?: string }).code ?? '';
  if (UNREACHABLE.has(code)) {
    return noAnswer('the upstream could not be reached', { retryable: true, cause: error });
  }
  // The request may have arrived: only a read is retryable.
  return noAnswer(
    timedOut ? 'the upstream did not answer in time' : 'the connection to the upstream broke',
    {
      retryable: request.method === 'GET' && !request.once,
      cause: error,
      ...(request.send && { details: { outcome: 'unknown' } }),
    },
  );
}

const noAnswer = (
  message: string,
  extras: { retryable: boolean; cause?: unknown; details?: unknown },
): ApiError => new ApiError('UPSTREAM_ERROR', message, extras);
