// A gRPC server over the generated definitions: trace, metrics, one log line a call, errors as
// google.rpc.Status, health and reflection.
import {
  Server,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { toApiError, toStatus, type ApiError } from '../errors';
import type { Component } from '../lifecycle';
import {
  endSpan,
  metrics,
  PROCESS_NAME,
  slowest,
  SpanKind,
  startSpan,
  traceIds,
  Waits,
  type Logger,
  type Waited,
} from '../telemetry';
import { readCall, trailerOf, type Call } from './call';
import './closing-sessions';
import {
  grpcService,
  isRead,
  spanAttributes,
  type Definition,
  type Implementation,
  type Method,
} from './definition';
import { createGate, type Gate, type Incoming } from './gate';
import { createLargeRequests, LARGE_BYTES, type LargeRequests } from './large-requests';
import { addReflection, createHealth, type Health } from './standard-services';
import { serverCredentials } from './tls';

const MESSAGE_LIMIT_BYTES = 4 * 1024 * 1024;
const CONNECTION_AGE_MS = 5 * 60_000;
/** As long as the longest transfer, so that a stream on an old connection is not cut. */
const CONNECTION_AGE_GRACE_MS = 300_000;
const KEEPALIVE_MS = 30_000;
/** A call without a deadline gets this one. */
const DEADLINE_MS = 60_000;
const DRAIN_LIMIT_MS = 15_000;
/** Per connection: bounds the calls that one caller can queue here. */
const STREAMS_MAX = 2_000;
/** The slowest calls of a method report to their caller what they waited for. */
const REPORTED_SHARE = 0.1;

export interface RpcServer extends Component {
  readonly port: number;
  readonly health: Health;
}

export function createRpcServer(
  settings: {
    host: string;
    port: number;
    message_limit_bytes?: number | undefined;
    in_flight_max?: number;
  },
  services: Implementation[],
  log: Logger,
): RpcServer {
  const limit = settings.message_limit_bytes ?? MESSAGE_LIMIT_BYTES;
  const server = new Server({
    'grpc.max_receive_message_length': limit,
    'grpc.max_send_message_length': limit,
    'grpc.max_connection_age_ms': CONNECTION_AGE_MS,
    'grpc.max_connection_age_grace_ms': CONNECTION_AGE_GRACE_MS,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.max_concurrent_streams': STREAMS_MAX,
  });
  const gate = createGate(log, settings.host, settings.in_flight_max);
  const large = createLargeRequests(log);
  const health = createHealth(services.map(({ definition }) => definition.fullName));
  for (const { definition, handlers } of [...services, health.implementation]) {
    const watch = definition === health.implementation.definition ? undefined : { log, large };
    const wired = Object.entries(definition.methods).map(([key, method]) => [
      method.name,
      (method.responseStream ? serveStream : serveUnary)({
        definition,
        method,
        handler: handlers[key] as Handler,
        gate,
        watch,
      }),
    ]);
    server.addService(
      grpcService(definition, deserialize),
      Object.fromEntries(wired) as UntypedServiceImplementation,
    );
  }
  addReflection(server, services, gate);

  let port = settings.port;
  return {
    name: 'grpc',
    health,
    get port() {
      return port;
    },
    start: () =>
      new Promise((resolve, reject) => {
        const address = `${settings.host}:${settings.port}`;
        server.bindAsync(address, serverCredentials(), (error, bound) => {
          if (error) return reject(error);
          port = bound;
          resolve();
        });
      }),
    stop: () =>
      new Promise((resolve) => {
        const force = setTimeout(() => server.forceShutdown(), DRAIN_LIMIT_MS);
        server.tryShutdown(() => {
          clearTimeout(force);
          resolve();
        });
      }),
  };
}

type Handler = (request: unknown, call: Call) => Promise<unknown> | AsyncIterable<unknown>;

/** One method as it is served. Health has no `watch`: its calls are neither counted nor logged. */
interface Served {
  definition: Definition;
  method: Method;
  handler: Handler;
  gate: Gate;
  watch: { log: Logger; large: LargeRequests } | undefined;
}

const enter = (served: Served, incoming: Incoming) =>
  served.watch ? served.gate.enter(incoming, served) : served.gate.enterStandard(incoming, served);

/** A large request stays encoded until it is its turn. */
const deserialize =
  ({ requestType }: Method) =>
  (bytes: Buffer): unknown =>
    bytes.length > LARGE_BYTES ? bytes : requestType.decode(bytes);

function serveStream(served: Served) {
  const { method, handler } = served;
  const repeatable = isRead(method);
  return async (stream: ServerWritableStream<unknown, unknown>): Promise<void> => {
    const refusal = enter(served, stream);
    if (refusal) return void stream.emit('error', refusal);
    const { call, end } = beginCall(served, stream);
    try {
      for await (const message of handler(stream.request, call) as AsyncIterable<unknown>) {
        if (call.signal?.aborted) break;
        if (!stream.write(message)) await drained(stream, call.signal);
      }
      stream.end();
      end();
    } catch (error) {
      const failure = toApiError(error, { repeatable });
      stream.emit('error', toStatus(failure));
      end(failure);
    }
  };
}

function serveUnary(served: Served) {
  const { method, handler, watch } = served;
  const repeatable = isRead(method);
  const isSlow = slowest(REPORTED_SHARE);
  return (incoming: ServerUnaryCall<unknown, unknown>, reply: sendUnaryData<unknown>): void => {
    const refusal = enter(served, incoming);
    if (refusal) return reply(refusal);
    const { call, end, elapsed } = beginCall(served, incoming);
    const waits = (call.waits = new Waits());
    const waited = (): Waited | undefined => {
      const took_ms = elapsed();
      return isSlow(took_ms) ? waits.report(PROCESS_NAME, took_ms) : undefined;
    };
    const handle = (request: unknown) => handler(request, call) as Promise<unknown>;
    const { request } = incoming;
    // Through a promise, so that a handler that throws before its first await is caught too.
    new Promise((resolve) =>
      resolve(
        watch && request instanceof Uint8Array
          ? watch.large.handle(request, method.requestType, call.deadline, handle)
          : handle(request),
      ),
    ).then(
      (message) => {
        reply(null, message, trailerOf(call, waited()));
        end();
      },
      (error: unknown) => {
        const failure = toApiError(error, { repeatable });
        reply(toStatus(failure));
        end(failure);
      },
    );
  };
}

/** Starts the call's span. `end` ends it, and records the metric and the log line. */
function beginCall(
  { definition, method, gate, watch }: Served,
  incoming: Incoming,
): { call: Call; end(error?: ApiError): void; elapsed(): number } {
  const { parent, request_id, idempotency } = readCall(incoming.metadata);
  const span = startSpan(`${definition.fullName}/${method.name}`, {
    kind: SpanKind.SERVER,
    parent,
    attributes: spanAttributes(definition, method),
  });
  const started = performance.now();
  const elapsed = (): number => performance.now() - started;
  let abort: AbortController | undefined;
  const call: Call = {
    deadline: deadlineOf(incoming),
    span: span.spanContext(),
    request_id,
    // Created on first use: few handlers need it, and it is expensive on the hot path.
    get signal() {
      if (!abort) {
        const made = (abort = new AbortController());
        if (incoming.cancelled) made.abort();
        else incoming.once('cancelled', () => made.abort());
      }
      return abort.signal;
    },
    idempotency,
  };
  const end = (error?: ApiError): void => {
    const outcome = error?.code ?? 'OK';
    const seconds = elapsed() / 1_000;
    metrics.rpc_server_duration.observe(
      { rpc_service: definition.name, rpc_method: method.name, outcome },
      seconds,
      call.span,
    );
    endSpan(span, error);
    if (!watch) return;
    gate.leave();
    const { log } = watch;
    const line = {
      rpc: `${definition.name}/${method.name}`,
      outcome,
      duration_ms: Math.round(seconds * 1e6) / 1e3,
      request_id,
      ...traceIds(call.span),
    };
    if (error && (error.code === 'INTERNAL_ERROR' || error.cause !== undefined)) {
      log[error.code === 'INTERNAL_ERROR' ? 'error' : 'info']({ ...line, err: error }, 'rpc');
    } else log.info(line, 'rpc');
  };
  return { call, end, elapsed };
}

function drained(
  stream: ServerWritableStream<unknown, unknown>,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    stream.once('drain', done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

function deadlineOf(incoming: Incoming): number {
  const deadline = incoming.getDeadline();
  const at = deadline instanceof Date ? deadline.getTime() : deadline;
  return Number.isFinite(at) ? at : Date.now() + DEADLINE_MS;
}
