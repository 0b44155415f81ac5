// Repeats a request where that is safe: the error is retryable (`retryable`), or the connection failed and the
// request changes nothing or has an Idempotency-Key. Sends get such a key by themselves.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { IDEMPOTENT_PATHS } from './idempotent';

const FIRST_WAIT_MS = 250;
const WAIT_MAX_MS = 60_000;
const KEY = 'Idempotency-Key';

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
        const response = await fetch(request.clone());
        if (isLast || !(await isRetryable(response))) return response;
        await sleep(waitOf(response, attempt), undefined, { signal: request.signal });
      } catch (error) {
        if (isLast || !isSafe || request.signal.aborted) throw error;
        await sleep(backoff(attempt), undefined, { signal: request.signal });
      }
    }
  };
}

async function isRetryable(response: Response): Promise<boolean> {
  if (response.ok) return false;
  try {
    const body = (await response.clone().json()) as { error?: { retryable?: boolean } };
    return body.error?.retryable === true;
  } catch {
    return false; // Not an answer of the gateway.
  }
}

/** `Retry-After` in seconds, else growing waits with some chance in them. */
function waitOf({ headers }: Response, attempt: number): number {
  const seconds = Number(headers.get('Retry-After') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1_000, WAIT_MAX_MS) : backoff(attempt);
}

const backoff = (attempt: number): number =>
  Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), WAIT_MAX_MS) * (0.5 + Math.random() / 2);
