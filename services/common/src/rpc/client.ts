// A typed client over a generated definition: deadline, trace, metrics, errors as ApiError. Repeats
// a read once after a broken connection, and any call that no server has accepted. Nothing else is
// repeated.
import {
  Client as GrpcClient,
  Metadata,
  status,
  type ClientOptions,
  type ClientReadableStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { isLoopback, type TlsSettings } from '../config';
import { fromServiceError, isAnswered, neverLeft, type ApiError } from '../errors';
import { audienceOf, certificatesFor, OPERATOR_SECRET_HEADER, operatorSecret } from '../identity';
import { pause, type Component } from '../lifecycle';
import { endSpan, metrics, SpanKind, startSpan, type Waited } from '../telemetry';
import { HOP_MS, readTrailer, writeCall, type Call } from './call';
import './closing-sessions';
import {
  grpcMethod,
  isRead,
  spanAttributes,
  type Client,
  type Definition,
  type Method,
} from './definition';
import { RENDEZVOUS } from './rendezvous';
import { clientCredentials } from './tls';

const MESSAGE_LIMIT_BYTES = 24 * 1024 * 1024;
const KEEPALIVE_MS = 30_000;
const RECONNECT_MIN_MS = 100;
const RECONNECT_MAX_MS = 1_000;
/** The default is half a minute, in which a replaced replica has no known successor. */
const LOOK_UP_AGAIN_MS = 1_000;
const ABSENCE_MS = 2_000;
const ABSENCE_CHECK_MS = 100;

const CHANNEL: ClientOptions = {
  'grpc.max_receive_message_length': MESSAGE_LIMIT_BYTES,
  'grpc.max_send_message_length': MESSAGE_LIMIT_BYTES,
  'grpc.keepalive_time_ms': KEEPALIVE_MS,
  'grpc.initial_reconnect_backoff_ms': RECONNECT_MIN_MS,
  'grpc.min_reconnect_backoff_ms': RECONNECT_MIN_MS,
  'grpc.max_reconnect_backoff_ms': RECONNECT_MAX_MS,
  'grpc.dns_min_time_between_resolutions_ms': LOOK_UP_AGAIN_MS,
  'grpc.enable_retries': 0,
};
const balancedBy = (policy: string): ClientOptions => ({
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ [policy]: {} }] }),
});

export interface RpcClient<D extends Definition> extends Component {
  readonly rpc: Client<D>;
}

interface RpcClientOptions {
  /** Replaces the process's own certificate. */
  tls?: TlsSettings | undefined;
  /** Sends calls with the same `route` to the same replica; without it, calls go round robin. */
  by_route?: boolean;
}

/** `address` is host:port, or IPv4 addresses with ports, comma-separated. */
export function createRpcClient<D extends Definition>(
  definition: D,
  address: string | (() => string),
  { tls, by_route = false }: RpcClientOptions = {},
): RpcClient<D> {
  const balanced = balancedBy(by_route ? RENDEZVOUS : 'round_robin');
  let client: GrpcClient | undefined;
  let streams: GrpcClient | undefined;
  const addressOf = (): string => (typeof address === 'string' ? address : address());
  const secretFor = (method: Method): string | undefined =>
    audienceOf(definition.name, method.name) === 'operator' && certificatesFor(tls) === undefined
      ? secretForHost(addressOf())
      : undefined;
  const connect = (more: ClientOptions = {}): GrpcClient =>
    new GrpcClient(targetOf(addressOf()), clientCredentials(tls), {
      ...CHANNEL,
      ...balanced,
      ...more,
    });
  const open = (): GrpcClient => (client ??= connect());
  // Separate connections: otherwise an answer would wait behind the bytes of files.
  const openStreams = (): GrpcClient =>
    (streams ??= connect({ 'grpc.use_local_subchannel_pool': 1 }));
  const rpc = Object.fromEntries(
    Object.entries(definition.methods).map(([key, method]) => {
      const called = { definition, method, secretFor, wire: grpcMethod(definition, method) };
      const run = method.responseStream
        ? (request: unknown, call: Call) => stream(openStreams(), called, request, call)
        : (request: unknown, call: Call) => unary(open(), called, request, call);
      return [key, run];
    }),
  ) as unknown as Client<D>;
  return {
    name: `rpc:${definition.name}`,
    rpc,
    async start() {
      open();
    },
    async stop() {
      client?.close();
      streams?.close();
    },
  };
}

/** Names are resolved by DNS; listed addresses are used as they are. */
const targetOf = (address: string): string =>
  address.includes(',') ? `ipv4:${address}` : `dns:///${address}`;

/**
 * The operator's secret, which never leaves this machine; undefined when it cannot be read: the
 * server's refusal then names the file.
 */
function secretForHost(address: string): string | undefined {
  if (!address.split(',').every(isLoopback)) return undefined;
  try {
    return operatorSecret();
  } catch {
    return undefined;
  }
}

/** A method as it is called; its grpc-js form is made once, not for each call. */
interface Called {
  definition: Definition;
  method: Method;
  wire: ReturnType<typeof grpcMethod>;
  secretFor(method: Method): string | undefined;
}

async function unary(
  client: GrpcClient,
  { definition, method, wire, secretFor }: Called,
  request: unknown,
  call: Call,
): Promise<unknown> {
  const { path, requestSerialize, responseDeserialize } = wire;
  const secret = secretFor(method);
  const span = startSpan(path.slice(1), {
    kind: SpanKind.CLIENT,
    parent: call.span,
    attributes: spanAttributes(definition, method),
  });
  const started = performance.now();
  let waited: Waited | undefined;
  const attempt = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const metadata = new Metadata();
      writeCall(metadata, call, span.spanContext());
      if (secret !== undefined) metadata.set(OPERATOR_SECRET_HEADER, secret);
      // Not cancelled when the caller disconnects: the outcome of a write would be unknown.
      const sent = client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        { deadline: call.deadline - HOP_MS },
        (error, reply) => (error ? reject(error) : resolve(reply)),
      );
      if (call.idempotency ?? call.waits) {
        sent.on('status', ({ metadata }) => (waited = readTrailer(metadata, call)));
      }
    });
  try {
    const reply = await attempt().catch((error: ServiceError) => {
      if (neverLeft(error)) return again(attempt, call.deadline);
      const broken = error.code === status.UNAVAILABLE && !isAnswered(error);
      if (isRead(method) && broken) return attempt();
      throw error;
    });
    finish('OK');
    return reply;
  } catch (error) {
    const failure = fromServiceError(error as ServiceError);
    finish(failure.code, failure);
    throw failure;
  }
  function finish(outcome: string, failure?: ApiError): void {
    const took_ms = performance.now() - started;
    metrics.rpc_client_duration.observe(
      { rpc_service: definition.name, rpc_method: method.name, outcome },
      took_ms / 1_000,
      span.spanContext(),
    );
    // The rest are the ways there and back, with the turns of both event loops.
    if (call.waits) call.waits.add('rpc', took_ms - (waited ? call.waits.merge(waited) : 0));
    endSpan(span, failure);
  }
}

const absenceLimit = (deadline: number): number =>
  Math.min(Date.now() + ABSENCE_MS, deadline - HOP_MS);

/** Waits for a restarting server. Nothing was sent yet, so nothing can be executed twice. */
async function again(attempt: () => Promise<unknown>, deadline: number): Promise<unknown> {
  const until = absenceLimit(deadline);
  for (;;) {
    await pause(ABSENCE_CHECK_MS);
    try {
      return await attempt();
    } catch (error) {
      if (!neverLeft(error as ServiceError) || Date.now() > until) throw error;
    }
  }
}

async function* stream(
  client: GrpcClient,
  { wire: { path, requestSerialize, responseDeserialize } }: Called,
  request: unknown,
  call: Call,
): AsyncIterable<unknown> {
  const metadata = new Metadata();
  writeCall(metadata, call, call.span);
  const until = absenceLimit(call.deadline);
  for (;;) {
    const incoming: ClientReadableStream<unknown> = client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      metadata,
      { deadline: call.deadline - HOP_MS },
    );
    const cancel = (): void => incoming.cancel();
    call.signal?.addEventListener('abort', cancel, { once: true });
    try {
      for await (const message of incoming) yield message;
      return;
    } catch (error) {
      if (!neverLeft(error as ServiceError) || Date.now() > until) {
        throw fromServiceError(error as ServiceError);
      }
    } finally {
      call.signal?.removeEventListener('abort', cancel);
      cancel();
    }
    await pause(ABSENCE_CHECK_MS, call.signal);
  }
}
