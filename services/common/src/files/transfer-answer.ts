// What an upstream answer to a transfer means: branches on the error object, never on the status alone,
// since real answers are mostly 400 whatever the code.
import type { Readable } from 'node:stream';
import { ApiError } from '../errors';
import { scrub, upstreamError, type Json, type UpstreamErrorBody } from '../upstream';

/** The error that a refusal means; undefined leaves it to the general rule. */
export type Refusal = (status: number, error: UpstreamErrorBody) => ApiError | undefined;

/** An answer larger than this is nonsense: files travel another way. */
const ANSWER_LIMIT_BYTES = 1024 * 1024;
const TOO_MANY_REQUESTS = 429;
const CAUSE_TEXT_MAX = 500;

export async function readText(body: Readable): Promise<string> {
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
  // Cut off, it is no JSON object any more, and is judged as such.
  return Buffer.concat(chunks).toString();
}

export function judgeAnswer(
  status: number,
  text: string,
  token: string,
  refusal: Refusal | undefined,
): Json {
  const body = parse(text);
  const error = objectOf(body?.['error']);
  if (status < 400 && body && !error) return body;
  const known = refusal?.(status, error ?? {});
  if (known) throw known;
  if (error) throw upstreamError(error, [token]);
  const cause = new Error(scrub(text.slice(0, CAUSE_TEXT_MAX), [token]));
  if (status >= 400) {
    throw new ApiError('UPSTREAM_ERROR', `the upstream answered HTTP ${status} without a reason`, {
      retryable: status >= 500 || status === TOO_MANY_REQUESTS,
      cause,
    });
  }
  throw new ApiError('UPSTREAM_ERROR', 'the upstream answered something that is no JSON object', {
    retryable: true,
    cause,
  });
}

/** No transfer sends a message: one whose outcome is unknown can be repeated without harm. */
export const noAnswer = (cause: unknown): ApiError =>
  new ApiError('UPSTREAM_ERROR', `the upstream ${problemOf(cause)}`, { retryable: true, cause });

const UNREACHABLE: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const STALLED: ReadonlySet<unknown> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

function problemOf(cause: unknown): string {
  const code = (cause as { code?: unknown } | null)?.code;
  if (UNREACHABLE.has(code)) return 'could not be reached';
  return STALLED.has(code) || code === undefined
    ? 'did not answer in time'
    : 'broke the connection';
}

function parse(text: string): Json | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const objectOf = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Json)
    : undefined;
