// Repeats a request if that is safe: the error is retryable (`retryable`), or the connection failed
// and the request changes nothing or has an Idempotency-Key. Sends get such a key automatically.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { IDEMPOTENT_PATHS } from './idempotent';

const FIRST_WAIT_MS = 250;
const WAIT_MAX_MS = 60_000;
const KEY = 'Idempotency-Key';
/** A code of the client, not of the gateway. */
const UNEXPECTED_ANSWER = 'UNEXPECTED_ANSWER';

export interface RetryOptions {
  fetch(request: Request): Promise<Response>;
  base_url: string;
  attempts_max: number;
}

export function createRetryingFetch(
  options: RetryOptions,
): (request: Request) => Promise<Response> {
  const { fetch, base_url, attempts_max } = options;
  const root = new URL(base_url).pathname.replace(/\/$/, '');
  return async (request) => {
    const path = new URL(request.url).pathname.slice(root.length);
    if (request.method === 'POST' && IDEMPOTENT_PATHS.includes(path) && !request.headers.has(KEY)) {
      request.headers.set(KEY, randomUUID());
    }
    const isSafe = request.method === 'GET' || request.headers.has(KEY);
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt >= attempts_max;
      try {
        const response = await readable(await fetch(request.clone()), isSafe);
        if (isLast || !(await isRetryable(response))) return response;
        const wait_ms = retryAfter(response) ?? backoff(attempt);
        await sleep(wait_ms, undefined, { signal: request.signal });
      } catch (error) {
        if (isLast || !isSafe || request.signal.aborted) throw error;
        await sleep(backoff(attempt), undefined, { signal: request.signal });
      }
    }
  };
}

/**
 * An answer that is not the gateway's, such as the HTML page of a proxy, as an error in the
 * gateway's form: `code` is `UNEXPECTED_ANSWER`. A proxy may have passed the request on, so only a
 * request that is safe to repeat is retryable.
 */
async function readable(response: Response, isSafe: boolean): Promise<Response> {
  const type = response.headers.get('Content-Type') ?? '';
  const isOurs = response.ok
    ? !type.startsWith('text/html')
    : isJson(type) && (await hasError(response));
  if (isOurs) return response;
  // Not awaited: a copy of the body that is still to be read would make it wait.
  response.body?.cancel().catch(() => undefined);
  const status = response.ok ? 502 : response.status;
  const passes = status >= 500 || status === 429 || status === 408;
  return Response.json(
    {
      success: false,
      error: {
        code: UNEXPECTED_ANSWER,
        message: `HTTP ${response.status} with ${type || 'no content type'}: not an answer of the gateway`,
        upstream_subcode: null,
        details: isSafe || !passes ? null : { outcome: 'unknown' },
        retryable: isSafe && passes,
        doc_url: '',
        request_id: response.headers.get('X-Request-Id') ?? '',
      },
    },
    { status, headers: pick(response.headers, 'Retry-After') },
  );
}

const isJson = (type: string): boolean => /^application\/(?:[\w.-]+\+)?json\b/.test(type);

async function hasError(response: Response): Promise<boolean> {
  try {
    const body = (await response.clone().json()) as { error?: Record<string, unknown> } | null;
    return typeof body?.error?.['code'] === 'string' || 'retryable' in (body?.error ?? {});
  } catch {
    return false;
  }
}

const pick = (headers: Headers, name: string): Record<string, string> => {
  const value = headers.get(name);
  return value === null ? {} : { [name]: value };
};

async function isRetryable(response: Response): Promise<boolean> {
  if (response.ok) return false;
  const body = (await response.clone().json()) as { error: { retryable?: boolean } };
  return body.error.retryable === true;
}

/** `Retry-After` in milliseconds, at most a minute; undefined if the answer has none in seconds. */
export function retryAfter({ headers }: Response): number | undefined {
  const value = headers.get('Retry-After');
  const seconds = value === null ? Number.NaN : Number(value);
  return Number.isFinite(seconds) ? Math.min(seconds * 1_000, WAIT_MAX_MS) : undefined;
}

/** Exponential backoff with jitter. */
export const backoff = (attempt: number): number =>
  Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), WAIT_MAX_MS) * (0.5 + Math.random() / 2);
