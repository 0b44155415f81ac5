// First on the middleware line. Gives a request its id, trace and notice headers, answers every
// error with the standard error body, and records one log line, one span and one duration per
// request.
import { randomUUID } from 'node:crypto';
import type { Context, Next } from 'koa';
import { ApiError, toApiError } from '@bmg/common/errors';
import { networkOf, type Refusals } from '@bmg/common/overload';
import {
  endSpan,
  metrics,
  observeWaits,
  parseTraceparent,
  PROCESS_NAME,
  slowest,
  SpanKind,
  startSpan,
  traceIds,
  traceparent,
  Waits,
  type Logger,
  type Waited,
} from '@bmg/common/telemetry';
import { actorOf } from '../audit/change';
import type { RefusalLog } from '../audit/refusal-log';
import { isRefusal } from '../auth/restriction';
import type { Load } from '../limits/load';
import { errorBody } from '../error-guide/error-body';
import type { RequestLog } from '../request-log';
import { IGNORED_HEADER } from './ignored';
import { loggedRequest } from './logged-request';
import { countError, fitAnswer, holdUntilSent, releasePlaces } from './sending';
import type { State } from './state';

export interface ObserveDependencies {
  /** Headers of every response. */
  notices: Record<string, string>;
  /** The documentation's page, for `doc_url` of errors. */
  docs_url: string;
  request_timeout_ms: number;
  /** Keeps calls of each partner for the console. */
  requests: Pick<RequestLog, 'takes' | 'record'>;
  /** Delays refusals of callers that had many. */
  refusals: Refusals;
  /** Records requests beyond the rights of their caller. */
  refused: Pick<RefusalLog, 'note'>;
  /** Bounds the bytes of answers. */
  load: Load;
  log: Logger;
}

type Span = ReturnType<typeof startSpan>;

/** Below it are the endpoints. */
const API = '/v1/';
/** Refusals before any work: a client that repeats the request only gets the same again. */
const REFUSALS = new Set([401, 429, 503]);
/** Refusals among the 403s, which the audit log has too. */
const REFUSAL_CODES: ReadonlySet<string> = new Set([
  'SCOPE_MISSING',
  'ADDRESS_NOT_ALLOWED',
  'KEY_RESTRICTED',
]);
const REQUEST_ID = /^[\w.:-]{1,128}$/;

export const createObserver =
  (deps: ObserveDependencies) =>
  async (context: Context, next: Next): Promise<void> => {
    await observe(context, next, deps);
    holdUntilSent(context);
  };

/** Everything except sending the answer. The caller releases the places that the request holds. */
export async function observe(
  context: Context,
  next: () => Promise<unknown>,
  deps: ObserveDependencies,
): Promise<void> {
  const started = performance.now();
  const span = beginRequest(context, deps);
  try {
    await next();
    fitAnswer(context, deps.load);
  } catch (error) {
    answerError(context, toFailure(error), deps.docs_url);
    countError(context, deps.load);
  }
  recordRequest(context, span, performance.now() - started, deps);
  const { error } = context.state as State;
  const goes_beyond = error !== undefined && REFUSAL_CODES.has(error.code);
  // A change that a service refuses has a record of its own with the code.
  if (goes_beyond && isRefusal(error)) noteRefusal(context, error.code, deps);
  if (goes_beyond || REFUSALS.has(context.status)) {
    // A delayed refusal holds nothing but its connection.
    releasePlaces(context);
    await deps.refusals.turn(holderOf(context));
  }
}

const holderOf = ({ state, ip }: Context): string =>
  (state as State).partner_id ?? `network:${networkOf(ip)}`;

function noteRefusal(
  context: Context,
  code: string,
  { refused }: Pick<ObserveDependencies, 'refused'>,
): void {
  const state = context.state as State;
  const { call, route, action = `${context.method} ${route}` } = state;
  const partner_id = state.partner_id ?? state.key_partner_id;
  if (partner_id === undefined) return;
  refused.note({ partner_id, actor: actorOf(state), action, code, address: context.ip }, call);
}

function beginRequest(
  context: Context,
  { notices, request_timeout_ms }: ObserveDependencies,
): Span {
  const sent_id = context.get('x-request-id');
  const request_id = REQUEST_ID.test(sent_id) ? sent_id : randomUUID();
  const given = parseTraceparent(context.get('traceparent') || undefined);
  const span = startSpan('request', {
    kind: SpanKind.SERVER,
    links: given && [given],
    attributes: { 'http.request.method': context.method },
  });
  const state = context.state as State;
  state.route = 'unknown';
  state.call = {
    deadline: Date.now() + request_timeout_ms,
    span: span.spanContext(),
    request_id,
    waits: new Waits(),
  };
  context.set(notices);
  context.set('X-Request-Id', request_id);
  state.caller_trace_id = given?.traceId;
  // The caller finds its own trace in the answer; log lines have both.
  const { traceId = state.call.span.traceId } = given ?? {};
  context.set('traceparent', traceparent({ ...state.call.span, traceId }));
  return span;
}

/** Koa and the router throw plain errors for a path that cannot be decoded: no route has it. */
const toFailure = (error: unknown): ApiError =>
  error instanceof URIError || (error as { status?: number }).status === 400
    ? notFound()
    : toApiError(error);

export const notFound = (hint = ''): ApiError =>
  new ApiError('NOT_FOUND', `there is no such path or method${hint}`);

function answerError(context: Context, failure: ApiError, docs_url: string): void {
  const state = context.state as State;
  state.error = failure;
  context.status = failure.http;
  // A caller without a valid key learns nothing about the endpoint.
  if (failure.http === 401) context.remove(IGNORED_HEADER);
  context.body = errorBody(failure, state.call.request_id, docs_url);
  if (failure.retry_after_s !== undefined) {
    context.set('Retry-After', String(Math.max(1, Math.ceil(failure.retry_after_s))));
  }
}

function recordRequest(
  context: Context,
  span: Span,
  exact_ms: number,
  { requests, log }: ObserveDependencies,
): void {
  const { status } = context;
  const state = context.state as State;
  span.updateName(`${context.method} ${state.route}`);
  span.setAttribute('http.route', state.route);
  span.setAttribute('http.response.status_code', status);
  endSpan(span, status >= 500 ? { code: state.error?.code ?? String(status) } : undefined);
  metrics.http_server_duration.observe(
    {
      http_route: state.route,
      http_request_method: context.method,
      http_response_status_code: String(status),
    },
    exact_ms / 1_000,
    state.call.span,
  );
  const { partner_id } = state;
  const { request_id } = state.call;
  const waited_ms = reportWaits(state, exact_ms);
  const duration_ms = Math.round(exact_ms * 1e3) / 1e3;
  // Calls through a session are the console's own: they would use up the partner's share.
  if (partner_id !== undefined && context.path.startsWith(API)) {
    if (requests.takes(partner_id, status >= 400)) {
      requests.record(partner_id, loggedRequest(context, duration_ms));
    }
  }
  // The answer is sent as text: a slow reader keeps no second form of it in memory.
  state.given = state.answer = undefined;
  const line = {
    route: state.route,
    method: context.method,
    status,
    duration_ms,
    request_id,
    ...(partner_id !== undefined && { partner_id }),
    ...(state.key_id !== undefined && { key_id: state.key_id }),
    ...(state.person_id !== undefined && { person_id: state.person_id }),
    ...(waited_ms && { waited_ms }),
    ...(state.error && { code: state.error.code, upstream_code: state.error.upstream_code }),
    ...traceIds(state.call.span),
    ...(state.caller_trace_id !== undefined && { caller_trace_id: state.caller_trace_id }),
  };
  if (state.error?.code === 'INTERNAL_ERROR') log.error({ ...line, err: state.error }, 'request');
  else log.info(line, 'request');
}

const tails = new Map<string, ReturnType<typeof slowest>>();

/** Undefined for all but the slowest requests of a route. */
function reportWaits({ route, call }: State, took_ms: number): Waited | undefined {
  let isSlow = tails.get(route);
  if (!isSlow) tails.set(route, (isSlow = slowest()));
  if (!call.waits || !isSlow(took_ms)) return undefined;
  const waited = call.waits.report(PROCESS_NAME, took_ms);
  return observeWaits(metrics.request_waits, { http_route: route }, waited, call.span);
}
