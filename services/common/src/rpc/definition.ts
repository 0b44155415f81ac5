// Types over the generated service definitions, and their conversion to grpc-js definitions.
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import type { Call } from './call';

/** A message codec as ts-proto generates it. */
export interface Codec<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
  fromPartial(object: object): T;
}

export interface Method {
  name: string;
  requestType: Codec<any>; // any: the codec of each method has its own message type
  requestStream: boolean;
  responseType: Codec<any>; // any: as above
  responseStream: boolean;
  options: { idempotencyLevel?: 'NO_SIDE_EFFECTS' | 'IDEMPOTENT' };
}

export interface Definition {
  name: string;
  fullName: string;
  methods: Record<string, Method>;
}

type MessageOf<C> = C extends Codec<infer T> ? T : never;
export type RequestOf<M extends Method> = MessageOf<M['requestType']>;
export type ResponseOf<M extends Method> = MessageOf<M['responseType']>;

/** The handlers of a service: functions for unary methods, generators for streaming ones. */
export type Handlers<D extends Definition> = {
  [K in keyof D['methods']]: D['methods'][K]['responseStream'] extends true
    ? (
        request: RequestOf<D['methods'][K]>,
        call: Call,
      ) => AsyncIterable<ResponseOf<D['methods'][K]>>
    : (request: RequestOf<D['methods'][K]>, call: Call) => Promise<ResponseOf<D['methods'][K]>>;
};

/** The client that a caller gets: the same shape. */
export type Client<D extends Definition> = Handlers<D>;

export interface Implementation {
  definition: Definition;
  handlers: Record<string, unknown>;
}

/** Ties handlers to their definition; the compiler insists on every method. */
export const implement = <D extends Definition>(
  definition: D,
  handlers: Handlers<D>,
): Implementation => ({ definition, handlers });

/** Ties a feature's part of the handlers; `defineService` insists on every method. */
export const implementPart = <D extends Definition>(
  definition: D,
  handlers: Partial<Handlers<D>>,
): Implementation => ({ definition, handlers });

export const isRead = (method: Method): boolean =>
  method.options.idempotencyLevel === 'NO_SIDE_EFFECTS';

/** The attributes of a call's span. */
export const spanAttributes = (definition: Definition, method: Method) => ({
  'rpc.system': 'grpc',
  'rpc.service': definition.fullName,
  'rpc.method': method.name,
});

export function grpcMethod(
  definition: Definition,
  method: Method,
): MethodDefinition<unknown, unknown> {
  // A caller may encode a long message itself, in turns with other work.
  const serialize =
    (codec: Codec<unknown>) =>
    (message: unknown): Buffer => {
      const bytes = message instanceof Uint8Array ? message : codec.encode(message).finish();
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    };
  return {
    path: `/${definition.fullName}/${method.name}`,
    requestStream: method.requestStream,
    responseStream: method.responseStream,
    requestSerialize: serialize(method.requestType),
    requestDeserialize: (bytes) => method.requestType.decode(bytes) as unknown,
    responseSerialize: serialize(method.responseType),
    responseDeserialize: (bytes) => method.responseType.decode(bytes) as unknown,
  };
}

/** `deserialize` replaces how a server reads the requests of a unary method. */
export const grpcService = (
  definition: Definition,
  deserialize: (method: Method) => (bytes: Buffer) => unknown,
): ServiceDefinition =>
  Object.fromEntries(
    Object.values(definition.methods).map((method) => [
      method.name,
      {
        ...grpcMethod(definition, method),
        ...(!method.responseStream && { requestDeserialize: deserialize(method) }),
      },
    ]),
  );
