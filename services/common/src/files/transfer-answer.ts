// Reads the upstream's answer to a transfer. Branches on the error object, because the status is 400 for
// most errors.
import type { Readable } from 'node:stream';
import { ApiError } from '../errors';
import { parseExact } from '../json';
import { scrub, upstreamError, type Json, type UpstreamErrorBody } from '../upstream';

/** The error for a refusal; undefined applies the general rule. */
export type Refusal = (status: number, error: UpstreamErrorBody) => ApiError | undefined;

/** Answers are far smaller; only files are large. */
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
  // A truncated answer is not a JSON object any more and is reported as such.
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
  throw new ApiError(
    'UPSTREAM_ERROR',
    'the upstream answered with something other than a JSON object',
    {
      retryable: true,
      cause,
    },
  );
}

/** A transfer sends no message, so repeating one with an unknown outcome is safe. */
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
    return objectOf(parseExact(text));
  } catch {
    return undefined;
  }
}

const objectOf = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Json)
    : undefined;
