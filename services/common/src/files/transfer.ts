// Streams files to and from the upstream. It has its own connections, so that slow files never
// delay sends.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { ApiError } from '../errors';
import type { Component } from '../lifecycle';
import { HOP_MS, type Call } from '../rpc';
import { endSpan, metrics, SpanKind, startSpan, traceparent, type Span } from '../telemetry';
import type { Json, UpstreamSettings } from '../upstream';
import { judgeAnswer, noAnswer, readText, type Refusal } from './transfer-answer';

export type { Refusal } from './transfer-answer';

export interface TransferRequest {
  /** For spans and metrics: a bounded set of names, e.g. `POST /{phone_number_id}/media`. */
  operation: string;
  method: 'GET' | 'POST';
  /** Path and query after the version segment; ids in it are already encoded. */
  path: string;
  token: string;
  /** The authorization scheme; `Bearer` by default, another one for resumable uploads. */
  scheme?: 'Bearer' | 'OAuth';
  headers?: Record<string, string>;
  body?: { length_bytes: number; chunks: AsyncIterable<Uint8Array> };
  /** Maps a refusal to an error; undefined applies the general rule. */
  refusal?: Refusal;
}

export interface OpenFile {
  status: number;
  headers: IncomingHttpHeaders;
  /** The caller reads or destroys it; fails with ApiError. */
  body: AsyncIterable<Buffer> & { destroy(): void };
}

export interface Transfer extends Component {
  /** Sends, and reads a JSON object as the answer. */
  json(request: TransferRequest, call: Call): Promise<Json>;
  /**
   * GETs a file; the caller has decided that the address may have the token. Resolves with any
   * status.
   */
  open(file: { operation: string; url: URL; token: string }, call: Call): Promise<OpenFile>;
}

const CONNECTIONS_MAX = 64;
const KEEPALIVE_MS = 30_000;
const CONNECT_LIMIT_MS = 3_000;
/** With less time than this left, a request is not sent: its answer would come too late. */
const WORTHWHILE_MS = 20;
/** The platform's file hosts answer odd user agents with an error page. */
const USER_AGENT = 'Mozilla/5.0 (compatible; business-messaging-gateway)';

type Request = Omit<Dispatcher.RequestOptions, 'origin' | 'signal'> & { origin: string };

export function createTransfer(settings: UpstreamSettings): Transfer {
  const base = new URL(settings.UPSTREAM_URL);
  const prefix = `${base.pathname.replace(/\/$/, '')}/${settings.UPSTREAM_API_VERSION}`;
  const agent = createAgent(settings.UPSTREAM_TIMEOUT_MS);

  const begin = async (request: Request, call: Call): Promise<Dispatcher.ResponseData> => {
    const clock = startClock(call);
    try {
      const answer = await agent.request({ ...request, signal: clock.signal });
      answer.body.once('close', clock.stop);
      return answer;
    } catch (error) {
      clock.stop();
      throw noAnswer(error);
    }
  };
  const exchange = async (request: TransferRequest, call: Call, span: Span): Promise<Json> => {
    const { method, path, token, scheme = 'Bearer', headers, body, refusal } = request;
    const answer = await begin(
      {
        origin: base.origin,
        path: prefix + path,
        method,
        headers: {
          accept: 'application/json',
          ...common(span),
          ...headers,
          authorization: `${scheme} ${token}`,
          ...(body && { 'content-length': String(body.length_bytes) }),
        },
        ...(body && { body: body.chunks as unknown as Readable }),
      },
      call,
    );
    span.setAttribute('http.response.status_code', answer.statusCode);
    return judgeAnswer(answer.statusCode, await readText(answer.body), token, refusal);
  };

  return {
    name: 'upstream-files',
    async start() {},
    stop: () => agent.close(),
    json: (request, call) =>
      observed(request, base.host, call, (span) => {
        const once = (): Promise<Json> => exchange(request, call, span);
        return request.method === 'GET' ? repeatedRead(once) : once();
      }),
    open: ({ operation, url, token }, call) =>
      observed({ operation, method: 'GET' }, url.host, call, (span) =>
        repeatedRead(async () => {
          const { statusCode, headers, body } = await begin(
            {
              origin: url.origin,
              path: url.pathname + url.search,
              method: 'GET',
              headers: {
                accept: '*/*',
                'accept-encoding': 'identity',
                ...common(span),
                authorization: `Bearer ${token}`,
              },
            },
            call,
          );
          span.setAttribute('http.response.status_code', statusCode);
          return { status: statusCode, headers, body: readable(body) };
        }),
      ),
  };
}

/**
 * Both timeouts are for stalls: every piece sent or received restarts them. The call's deadline
 * limits the whole exchange.
 */
const createAgent = (stall_ms: number): Agent =>
  new Agent({
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: KEEPALIVE_MS,
    connect: { timeout: CONNECT_LIMIT_MS },
    headersTimeout: stall_ms,
    bodyTimeout: stall_ms,
  });

const common = (span: Span): Record<string, string> => ({
  'user-agent': USER_AGENT,
  traceparent: traceparent(span.spanContext()),
});

/** A span and a metric around one exchange; of a file, until its first byte can be read. */
async function observed<T>(
  { operation, method }: { operation: string; method: string },
  host: string,
  call: Call,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = startSpan(operation, {
    kind: SpanKind.CLIENT,
    parent: call.span,
    attributes: { 'http.request.method': method, 'server.address': host },
  });
  const started = performance.now();
  let failure: ApiError | undefined;
  try {
    return await work(span);
  } catch (error) {
    failure = error as ApiError;
    throw error;
  } finally {
    const outcome = failure ? String(failure.upstream_code ?? 'no_answer') : 'ok';
    metrics.upstream_duration.observe(
      { operation, outcome },
      (performance.now() - started) / 1_000,
      span.spanContext(),
    );
    endSpan(span, failure);
  }
}

/** Only reads are repeated: once, and only when there was no answer. */
const repeatedRead = <T>(once: () => Promise<T>): Promise<T> =>
  once().catch((error: unknown) => {
    const repeat =
      error instanceof ApiError && error.retryable && error.upstream_code === undefined;
    if (repeat) return once();
    throw error;
  });

/** Aborts the exchange at the call's deadline or when the caller cancels. */
function startClock(call: Call): { signal: AbortSignal; stop(): void } {
  const left_ms = call.deadline - HOP_MS - Date.now();
  if (left_ms < WORTHWHILE_MS) throw noAnswer(new Error('no time left'));
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error('the deadline has passed')), left_ms);
  const onAbort = (): void => controller.abort(new Error('the caller disconnected'));
  if (call.signal?.aborted) onAbort();
  else call.signal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    stop: () => {
      clearTimeout(timer);
      call.signal?.removeEventListener('abort', onAbort);
    },
  };
}

/** The body, with its failures turned into ApiErrors. */
function readable(body: Readable): OpenFile['body'] {
  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) yield chunk;
    } catch (error) {
      throw noAnswer(error);
    }
  }
  // A body that is destroyed unread fails; that error is of no interest.
  body.on('error', () => undefined);
  return Object.assign(chunks(), { destroy: () => void body.destroy() });
}
