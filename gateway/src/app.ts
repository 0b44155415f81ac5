// The edge: request id, errors, notices; then, for every row of the endpoint table, one chain steered by
// the row: authenticate → rate limit → body → scope → (once per Idempotency-Key) call → meter.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import { ApiError, toApiError } from '@bmg/common/errors';
import type { Call, Client, Definition } from '@bmg/common/rpc';
import {
  endSpan,
  metrics,
  parseTraceparent,
  SpanKind,
  startSpan,
  traceIds,
  traceparent,
  type Logger,
} from '@bmg/common/telemetry';
import type { SessionAuthenticator } from './auth/session-token';
import { usageName, type Endpoint, type Fields, type Input } from './endpoints/endpoint';
import { errorBody } from './edge/error-body';
import type { HealthMonitor } from './health';
import { hasKey, show, type Guards, type Work } from './idempotency';
import type { Bucket, Taken } from './limits/bucket';
import type { Load } from './limits/load';
import type { Authenticator } from './auth/authenticate';
import { readBody } from './edge/body';
import type { Meter } from './edge/meter';
import { wabaHeader, type ScopeResolver } from './auth/scope';
import { compile } from './endpoints/parts/schema';
import { streamAnswer, type Chunk } from './edge/stream';

export interface AppDependencies {
  endpoints: Endpoint[];
  notices: Record<string, string>;
  authenticator: Authenticator;
  sessions: SessionAuthenticator;
  bucket: Bucket;
  /** How much is taken on at once; without it, whatever comes. */
  load?: Load;
  scope: ScopeResolver;
  meter: Meter;
  health: HealthMonitor;
  client(definition: Definition): Client<Definition>;
  /** For the rows that take an Idempotency-Key. */
  guards?: Guards;
  request_timeout_ms: number;
  /** Proxies in front whose X-Forwarded-For is believed. */
  proxy_hops?: number;
  /** Pages and documents beside the contract's endpoints. */
  extend?(router: Router<State>): void;
  log: Logger;
}

export interface State {
  call: Call;
  /** What the log line, the metric and the usage record know. */
  route: string;
  partner_id?: string;
  error?: ApiError | undefined;
}

const BASE = '/v1';
const HEALTH = `${BASE}/health`;
const BODY_LIMIT_BYTES = 1024 * 1024;
const REQUEST_ID = /^[\w.:-]{1,128}$/;
const KEY = 'x-partner-key';
const CONNECT_TOKEN = 'x-connect-token';

export function createApp(deps: AppDependencies): Koa<State> {
  const { proxy_hops = 0 } = deps;
  // Without a limit Koa would believe whatever address a client has put in front of the proxies' own.
  const app = new Koa<State>({ proxy: proxy_hops > 0, maxIpsCount: proxy_hops });
  const router = new Router<State>();
  router.get(HEALTH, (context: Context) => {
    const { http, body } = deps.health.report();
    context.state['route'] = '/health';
    context.status = http;
    context.body = body;
  });
  for (const endpoint of deps.endpoints) {
    router.register(BASE + endpoint.path, [endpoint.verb], createChain(endpoint, deps));
  }
  deps.extend?.(router);
  app.use((context, next) => observe(context, next, deps));
  app.use(router.routes());
  app.use(() => {
    throw new ApiError('NOT_FOUND', 'there is no such path or method');
  });
  // The chain answers every error itself; what comes here is a client that went away.
  app.on('error', (error: unknown) =>
    deps.log.debug({ err: error }, 'a response was not delivered'),
  );
  return app;
}

/** Request id, trace, notice headers, errors, one log line. */
async function observe(
  context: Context,
  next: () => Promise<void>,
  deps: AppDependencies,
): Promise<void> {
  const started = performance.now();
  const given = context.get('x-request-id');
  const request_id = REQUEST_ID.test(given) ? given : randomUUID();
  const span = startSpan('request', {
    kind: SpanKind.SERVER,
    parent: parseTraceparent(context.get('traceparent') || undefined),
    attributes: { 'http.request.method': context.method },
  });
  const state = context.state as State;
  state.route = 'unknown';
  state.call = {
    deadline: Date.now() + deps.request_timeout_ms,
    span: span.spanContext(),
    request_id,
  };
  context.set(deps.notices);
  context.set('X-Request-Id', request_id);
  context.set('traceparent', traceparent(state.call.span));
  let leave: (() => void) | undefined;
  try {
    // Health is answered however much is under way: whoever asks wants to know just that.
    if (context.path !== HEALTH) leave = deps.load?.enter();
    await next();
  } catch (error) {
    // A path that cannot be decoded names nothing.
    const failure =
      error instanceof URIError || (error as { status?: number }).status === 400
        ? new ApiError('NOT_FOUND', 'there is no such path or method')
        : toApiError(error);
    state.error = failure;
    context.status = failure.http;
    context.body = errorBody(failure, request_id);
    if (failure.retry_after_s !== undefined) {
      context.set('Retry-After', String(Math.max(1, Math.ceil(failure.retry_after_s))));
    }
    // What is left of a refused body must not be read as the next request.
    if (!context.req.complete) context.set('Connection', 'close');
  }
  leave?.();
  finish(context, state, span, performance.now() - started, deps.log);
}

function finish(
  context: Context,
  state: State,
  span: ReturnType<typeof startSpan>,
  duration: number,
  log: Logger,
): void {
  const { status } = context;
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
    duration / 1_000,
    state.call.span,
  );
  const line = {
    route: state.route,
    method: context.method,
    status,
    duration_ms: Math.round(duration * 1e3) / 1e3,
    request_id: state.call.request_id,
    ...(state.partner_id !== undefined && { partner_id: state.partner_id }),
    ...(state.error && { code: state.error.code, upstream_code: state.error.upstream_code }),
    ...traceIds(state.call.span),
  };
  if (state.error?.code === 'INTERNAL_ERROR') log.error({ ...line, err: state.error }, 'request');
  else log.info(line, 'request');
}

/** Everything about a row that does not change is decided here, once. */
function createChain(
  endpoint: Endpoint,
  deps: AppDependencies,
): (context: Context) => Promise<void> {
  const usage = usageName(endpoint);
  const route = endpoint.path.replace(/:(\w+)/g, '{$1}');
  const checkQuery = endpoint.query && compile(endpoint.query, 'query');
  const checkBody = endpoint.body && compile(endpoint.body, 'body');
  const { requestType } = endpoint.rpc.definition.methods[endpoint.rpc.method] as {
    requestType: { fromPartial(fields: object): unknown };
  };
  const makeReply = endpoint.reply ?? ((reply: Fields) => reply);
  const makeRequest = endpoint.request ?? defaultRequest;
  const guard = endpoint.idempotent ? deps.guards?.(endpoint) : undefined;

  return async (context) => {
    const state = context.state as State;
    state.route = route;
    if (endpoint.timeout_ms !== undefined) state.call.deadline = Date.now() + endpoint.timeout_ms;
    const { call } = state;
    const { partner_id, session_id, limited } = await admit(context, endpoint, deps);
    state.partner_id = partner_id;
    let failed = true;
    let leave: (() => void) | undefined;
    const room = deps.load?.body();
    try {
      if (!limited.allowed) throw rateLimited(limited);
      leave = deps.load?.enterAs(partner_id);
      const query = checkQuery?.(context.query) ?? {};
      const body = checkBody
        ? checkBody(
            await readBody(
              context.req as IncomingMessage,
              endpoint.body_limit_bytes ?? BODY_LIMIT_BYTES,
              room?.hold,
            ),
          )
        : {};
      const input: Input = {
        partner_id,
        params: context['params'] as Record<string, string>,
        query,
        body,
        target: undefined,
        waba_id: undefined,
        session_id,
      };
      if (endpoint.scope === 'number') {
        input.target = await deps.scope(partner_id, context.headers, limited.version, call);
      } else if (endpoint.scope === 'filter') input.waba_id = wabaHeader(context.headers);
      const request = requestType.fromPartial(makeRequest(input));
      const method = deps.client(endpoint.rpc.definition)[endpoint.rpc.method] as (
        request: unknown,
        call: Call,
      ) => Promise<Fields> | AsyncIterable<Chunk>;
      if (endpoint.stream) {
        state.error = await streamAnswer(context, method(request, call) as AsyncIterable<Chunk>);
        failed = state.error !== undefined;
        return;
      }
      const { status } = endpoint;
      const work: Work = {
        headers: context.headers,
        input,
        call,
        run: async (underKey) => (await method(request, underKey)) as Fields,
        answer: (reply) => ({
          status: typeof status === 'function' ? status(reply) : (status ?? 200),
          body: { success: true, ...makeReply(reply, input) },
        }),
      };
      const guarded = guard && hasKey(context.headers);
      const answer = guarded ? await guard(work) : work.answer(await work.run(call));
      show(context, answer);
      failed = answer.status >= 400;
    } finally {
      leave?.();
      room?.release();
      deps.meter.count(partner_id, usage, failed);
    }
  };
}

interface Admitted {
  partner_id: string;
  session_id?: string;
  limited: Taken;
}

/** Who is asking, and whether their bucket has a token left: one round trip to the shared store. */
async function admit(
  context: Context,
  { scope, counted = true }: Endpoint,
  { authenticator, sessions, bucket }: AppDependencies,
): Promise<Admitted> {
  const { call } = context.state as State;
  const key = context.get(KEY).trim();
  const take = async (partner_id: string, rate_limit_per_sec: number): Promise<Taken> => {
    const limited = await bucket.take(partner_id, rate_limit_per_sec, counted ? 1 : 0);
    if (counted) {
      context.set('RateLimit-Limit', String(rate_limit_per_sec));
      context.set('RateLimit-Remaining', String(limited.remaining));
      context.set('RateLimit-Reset', String(limited.reset_s));
    }
    return limited;
  };
  if (!key) {
    const token = scope === 'session' ? context.get(CONNECT_TOKEN).trim() : '';
    if (!token) throw new ApiError('UNAUTHORIZED', `the header ${KEY} is required`);
    const { partner_id, session_id, rate_limit_per_sec } = await sessions.find(token, call);
    return { partner_id, session_id, limited: await take(partner_id, rate_limit_per_sec) };
  }
  const known = await authenticator.first(key, call);
  const { partner_id, rate_limit_per_sec } = known.caller;
  const limited = await take(partner_id, rate_limit_per_sec);
  await authenticator.confirm(known, limited.version, call);
  return { partner_id, limited };
}

function rateLimited({ retry_after_s }: Taken): ApiError {
  metrics.rate_limited.inc({ limiter: 'partner' });
  return new ApiError('RATE_LIMIT_EXCEEDED', 'too many requests: slow down and try again', {
    retry_after_s,
  });
}

const defaultRequest = ({ params, query, body, target, partner_id, waba_id }: Input): Fields => ({
  ...query,
  ...body,
  ...params,
  ...(target ? { target } : { partner_id, ...(waba_id !== undefined && { waba_id }) }),
});
