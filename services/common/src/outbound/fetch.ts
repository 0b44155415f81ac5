// Fetching a partner's file (media, template header samples). The whole exchange has one time limit
// and the body a size limit, both enforced while the consumer reads.
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { checkUrl, UrlRefused, checkHeaders } from './check-url';
import { ConnectFailed, failureOf, type OutboundFailure } from './failures';
import type { GuardedAgent } from './guarded';
import { watchMinimumRate } from '../overload';

export interface GuardedFetchOptions {
  agent: GuardedAgent;
  /** The request field that held the URL, for the refusal. */
  field: string;
  /** Limits the whole exchange: connecting, redirects, and the consumer's reading of it. */
  timeout_ms?: number;
  /** The body must move at a minimum rate in each interval of this length. */
  rate_interval_ms?: number | undefined;
  max_bytes?: number;
  /** HEAD reads only type and size. Defaults to GET. */
  method?: 'GET' | 'HEAD';
  signal?: AbortSignal | undefined;
  /** Sent to every host on the way; those that carry credentials are left out. */
  headers?: Readonly<Record<string, string>>;
}

export interface FetchedFile {
  status: number;
  headers: IncomingHttpHeaders;
  /** Fails with FetchFailed. The caller reads or destroys it. */
  body: Readable;
}

export type FetchFailure =
  | Exclude<OutboundFailure, 'url_refused'>
  | 'http_status'
  | 'too_many_redirects'
  | 'too_large'
  | 'content_encoding';

interface FetchFailedFacts {
  retryable?: boolean;
  http_status?: number;
  /** Of a file that is too large: the announced size, otherwise the bytes received so far. */
  size_bytes?: number;
  limit_bytes?: number;
}

/** The file could not be fetched. */
export class FetchFailed extends Error {
  override readonly name = 'FetchFailed';
  readonly retryable: boolean;
  readonly http_status?: number;
  readonly size_bytes?: number;
  readonly limit_bytes?: number;

  constructor(
    readonly reason: FetchFailure,
    { retryable = false, ...facts }: FetchFailedFacts = {},
    options?: ErrorOptions,
  ) {
    super(`fetch failed: ${reason}`, options);
    this.retryable = retryable;
    Object.assign(this, facts);
  }
}

export const FETCH_TIMEOUT_MS = 30_000;
const RATE_INTERVAL_MS = 5_000;
export const REDIRECTS_MAX = 5;
// The largest file that the contract knows: a document of 100 MB.
const FETCH_LIMIT_BYTES = 104_857_600;

export const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const SERVER_ERROR_FROM = 500;

// A partner-given host never gets our credentials, even if a caller forwards its headers.
const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
]);

/**
 * GETs the file, following redirects, each checked like the first URL. Resolves once a 2xx answer
 * has begun; rejects with UrlRefused when a URL on the way leads to a forbidden address, otherwise
 * FetchFailed (and TypeError for headers that must not be sent).
 */
export async function guardedFetch(
  url: string,
  options: GuardedFetchOptions,
): Promise<FetchedFile> {
  const limit = startLimit(options.timeout_ms ?? FETCH_TIMEOUT_MS, options.signal);
  try {
    return await follow(url, options, limit);
  } catch (error) {
    limit.stop();
    throw translate(error, options.field);
  }
}

async function follow(
  start: string,
  options: GuardedFetchOptions,
  limit: Limit,
): Promise<FetchedFile> {
  const { agent, field, max_bytes = FETCH_LIMIT_BYTES } = options;
  let url = checkUrl(start, { field, allowPrivate: agent.allowPrivate });
  for (let redirects = 0; ; redirects++) {
    const response = await get(url, options, limit);
    const { statusCode: status, headers, body } = response;
    // A body that is destroyed below emits an error, which its reader gets from the read.
    body.on('error', () => undefined);
    if (REDIRECT_STATUSES.has(status) && typeof headers.location === 'string') {
      body.destroy();
      if (redirects >= REDIRECTS_MAX) throw new FetchFailed('too_many_redirects');
      url = checkRedirect(url, headers.location, options);
      continue;
    }
    try {
      checkResponse(status, headers, max_bytes);
    } catch (error) {
      body.destroy();
      throw error;
    }
    return { status, headers, body: boundedBody(body, options, limit) };
  }
}

function checkRedirect(from: URL, location: string, options: GuardedFetchOptions): URL {
  const { field, agent } = options;
  const target = URL.parse(location, from.href);
  if (!target) throw new UrlRefused(field, 'malformed');
  const to = checkUrl(target.href, { field, allowPrivate: agent.allowPrivate });
  // Even if http is allowed: a request over HTTPS must not be downgraded by a redirect.
  if (from.protocol === 'https:' && to.protocol !== 'https:')
    throw new UrlRefused(field, 'not_https');
  return to;
}

function checkResponse(status: number, headers: IncomingHttpHeaders, max_bytes: number): void {
  if (status < 200 || status > 299) {
    const retryable = status >= SERVER_ERROR_FROM;
    throw new FetchFailed('http_status', { retryable, http_status: status });
  }
  // The request accepts only an uncompressed file: a compressed one would be passed on as garbage.
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') throw new FetchFailed('content_encoding');
  const size_bytes = Number(headers['content-length'] ?? 0);
  if (size_bytes > max_bytes) {
    throw new FetchFailed('too_large', { size_bytes, limit_bytes: max_bytes });
  }
}

async function get(
  url: URL,
  { agent, headers, method = 'GET' }: GuardedFetchOptions,
  limit: Limit,
): Promise<Dispatcher.ResponseData> {
  const request = agent.dispatcher.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: sendable(headers),
    signal: limit.signal,
  });
  // undici reports an abort only after connecting; the timeout does not wait for that.
  request.catch(() => undefined);
  return Promise.race([request, limit.over]);
}

function sendable(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const kept: Record<string, string> = { accept: '*/*' };
  for (const [name, value] of Object.entries(headers)) {
    const lowerCased = name.toLowerCase();
    if (!CREDENTIALS.has(lowerCased)) kept[lowerCased] = value;
  }
  checkHeaders(kept);
  return { ...kept, 'accept-encoding': 'identity' };
}

function boundedBody(
  source: Readable,
  { max_bytes = FETCH_LIMIT_BYTES, rate_interval_ms = RATE_INTERVAL_MS }: GuardedFetchOptions,
  limit: Limit,
): Readable {
  let received_bytes = 0;
  const onBytes = (bytes: number): void => void (received_bytes += bytes);
  const body = Readable.from(bounded(source, max_bytes, onBytes), { objectMode: false });
  const stopWatching = watchMinimumRate(rate_interval_ms, () => received_bytes, limit.expire);
  // Either side may end first: the agent may be destroyed before the caller starts to read the
  // body.
  body.once('close', () => source.destroy());
  source.once('close', () => {
    stopWatching();
    limit.stop();
  });
  return body;
}

async function* bounded(
  source: Readable,
  max_bytes: number,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let size_bytes = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      size_bytes += chunk.length;
      onBytes(chunk.length);
      if (size_bytes > max_bytes) {
        throw new FetchFailed('too_large', { size_bytes, limit_bytes: max_bytes });
      }
      yield chunk;
    }
  } catch (error) {
    throw translate(error, '');
  }
}

function translate(error: unknown, field: string): unknown {
  if (error instanceof FetchFailed || error instanceof UrlRefused) return error;
  const failure = failureOf(error);
  if (failure === null) return error;
  if (failure === 'url_refused') return new UrlRefused(field, 'private_address', { cause: error });
  const passing = error instanceof ConnectFailed && error.transient;
  return new FetchFailed(
    failure,
    { retryable: failure === 'timeout' || passing },
    { cause: error },
  );
}

interface Limit {
  signal: AbortSignal;
  /** Rejects on the timeout or when the caller cancels; never resolves. */
  over: Promise<never>;
  /** Ends the exchange as timed out. */
  expire(): void;
  stop(): void;
}

function startLimit(timeout_ms: number, signal: AbortSignal | undefined): Limit {
  const controller = new AbortController();
  const expire = (): void => controller.abort(new FetchFailed('timeout', { retryable: true }));
  const timer = setTimeout(expire, timeout_ms);
  // An unread body must not keep the process alive.
  timer.unref();
  const onAbort = (): void =>
    controller.abort(new FetchFailed('aborted', {}, { cause: signal?.reason }));
  const over = new Promise<never>((_resolve, reject) => {
    const onOver = (): void => reject(controller.signal.reason as FetchFailed);
    controller.signal.addEventListener('abort', onOver, { once: true });
  });
  over.catch(() => undefined);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    over,
    expire,
    stop: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}
