// What every exchange with the upstream shares, of JSON and of files: its span and metric, the
// meaning of an answer, and when a read may be repeated.
import { ApiError } from '../errors';
import { parseExact } from '../json';
import type { Call } from '../rpc';
import { endSpan, metrics, SpanKind, startSpan, type Span } from '../telemetry';
import { isObject, type Json } from './answers';
import { scrub, upstreamError, type UpstreamErrorBody } from './upstream-codes';

/** Error codes of requests that never reached the upstream. */
export const UNREACHABLE: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const TOO_MANY_REQUESTS = 429;
const CAUSE_TEXT_MAX = 500;

interface Exchange {
  operation: string;
  method: string;
  host: string;
  /** Counts the time among the waits of the call. */
  is_wait?: boolean;
}

/** A span and a metric around one exchange. */
export async function observed<T>(
  { operation, method, host, is_wait }: Exchange,
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
    const took_ms = performance.now() - started;
    const labels = { operation, outcome };
    metrics.upstream_duration.observe(labels, took_ms / 1_000, span.spanContext());
    if (is_wait) call.waits?.add('upstream', took_ms);
    endSpan(span, failure);
  }
}

/** True if there was no answer, and a repeat may get one. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof ApiError && error.retryable && error.upstream_code === undefined;

interface Answer {
  status: number;
  text: string;
  /** The upstream's own id of the answer. */
  trace_id?: string | undefined;
}

interface Rules {
  /** Texts to remove from errors. */
  secrets: string[];
  /** A send: an error with an unknown outcome is not retryable. */
  send?: boolean | undefined;
  /** True if a repeat has no further effect. */
  repeatable: boolean;
  /** True for an answer that counts as a success although it contains an error. */
  accept?: ((body: Json) => boolean) | undefined;
  /** The error for a refusal; undefined applies the general rule. */
  refusal?: ((status: number, error: UpstreamErrorBody) => ApiError | undefined) | undefined;
}

/** Branches on the error object, not on the status: the upstream answers most errors with 400. */
export function judge(
  { status, text, trace_id }: Answer,
  { secrets, send = false, repeatable, accept, refusal }: Rules,
): Json {
  const body = parse(text);
  const error = body?.['error'] as UpstreamErrorBody | undefined;
  const has_error = typeof error === 'object' && error !== null;
  if (body && (accept?.(body) || (status < 400 && !has_error))) return body;
  const known = refusal?.(status, has_error ? error : {});
  if (known) throw known;
  if (has_error) throw upstreamError(error, secrets, trace_id);
  if (status >= 400) {
    throw new ApiError('UPSTREAM_ERROR', `the upstream answered HTTP ${status} without a reason`, {
      // A 5xx without an error object leaves the outcome unknown: a send may have gone out.
      retryable: !send && (status >= 500 || status === TOO_MANY_REQUESTS),
      ...(send && status >= 500 && { details: { outcome: 'unknown' } }),
      upstream_trace_id: trace_id,
      cause: new Error(scrub(text.slice(0, CAUSE_TEXT_MAX), secrets)),
    });
  }
  throw new ApiError(
    'UPSTREAM_ERROR',
    'the upstream answered with something other than a JSON object',
    {
      retryable: repeatable,
      ...(send && { details: { outcome: 'unknown' } }),
      upstream_trace_id: trace_id,
      // Causes are logged, and half of a success names customers, who must not be in a log.
      cause: new Error(`HTTP ${status} with ${text.length} characters`),
    },
  );
}

function parse(text: string): Json | undefined {
  try {
    const value = parseExact(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
