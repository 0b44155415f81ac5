// Streams files to and from the upstream. It has its own connections, so that slow files never
// delay sends.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { ApiError } from '../errors';
import type { Component } from '../lifecycle';
import { HOP_MS, type Call } from '../rpc';
import { traceparent, type Span } from '../telemetry';
import {
  isUnanswered,
  judge,
  observed,
  UNREACHABLE,
  type Json,
  type UpstreamErrorBody,
  type UpstreamSettings,
} from '../upstream';

/** The error for a refusal; undefined applies the general rule. */
export type Refusal = (status: number, error: UpstreamErrorBody) => ApiError | undefined;

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
  /** GETs a file from an address that may have the token. Resolves with any status. */
  open(file: { operation: string; url: URL; token: string }, call: Call): Promise<OpenFile>;
}

const CONNECTIONS_MAX = 64;
const KEEPALIVE_MS = 30_000;
const CONNECT_LIMIT_MS = 3_000;
/** Answers are far smaller; only files are large. */
const ANSWER_LIMIT_BYTES = 1024 * 1024;
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
    const text = await readText(answer.body);
    const rules = { secrets: [token], repeatable: true, refusal };
    return judge({ status: answer.statusCode, text }, rules);
  };

  return {
    name: 'upstream-files',
    async start() {},
    stop: () => agent.close(),
    json: (request, call) =>
      observed({ ...request, host: base.host }, call, (span) => {
        const once = (): Promise<Json> => exchange(request, call, span);
        return request.method === 'GET' ? repeatedRead(once) : once();
      }),
    open: ({ operation, url, token }, call) =>
      observed({ operation, method: 'GET', host: url.host }, call, (span) =>
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

/** Only reads are repeated: once, and only when there was no answer. */
const repeatedRead = <T>(once: () => Promise<T>): Promise<T> =>
  once().catch((error: unknown) => {
    if (isUnanswered(error)) return once();
    throw error;
  });

/** A transfer sends no message, so repeating one with an unknown outcome is safe. */
const noAnswer = (cause: unknown): ApiError =>
  new ApiError('UPSTREAM_ERROR', `the upstream ${problemOf(cause)}`, { retryable: true, cause });

const STALLED: ReadonlySet<unknown> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

function problemOf(cause: unknown): string {
  const code = (cause as { code?: unknown } | null)?.code;
  if (UNREACHABLE.has(code)) return 'could not be reached';
  return STALLED.has(code) || code === undefined
    ? 'did not answer in time'
    : 'broke the connection';
}

async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > ANSWER_LIMIT_BYTES) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw noAnswer(error);
  }
  // A truncated answer is not a JSON object any more and is reported as such.
  return Buffer.concat(chunks).toString();
}

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
