// The services that every process serves: the standard health protocol, and reflection.
import { readFileSync } from 'node:fs';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import type { Server, ServerDuplexStream } from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import {
  HealthCheckResponse_ServingStatus as Serving,
  HealthDefinition,
  type HealthCheckRequest,
  type HealthCheckResponse,
} from '@bmg/proto/health';
import { implement, type Implementation } from './definition';
import type { Gate } from './gate';

export type Health = ReturnType<typeof createHealth>;

/** '' and the name of every service stand for the process as a whole. */
export function createHealth(services: string[]) {
  const known = new Set(['', ...services]);
  let serving = false;
  let changed: Array<() => void> = [];
  const statusOf = ({ service }: HealthCheckRequest): HealthCheckResponse => ({
    status: !known.has(service)
      ? Serving.SERVICE_UNKNOWN
      : serving
        ? Serving.SERVING
        : Serving.NOT_SERVING,
  });
  return {
    set(now: boolean): void {
      serving = now;
      const waiting = changed;
      changed = [];
      for (const wake of waiting) wake();
    },
    implementation: implement(HealthDefinition, {
      check: async (request) => statusOf(request),
      async *watch(request, { signal }) {
        while (!signal?.aborted) {
          yield statusOf(request);
          await new Promise<void>((resolve) => {
            changed.push(resolve);
            signal?.addEventListener('abort', () => resolve(), { once: true });
          });
        }
      },
    }),
  };
}

const REFLECTION = {
  definition: { name: 'ServerReflection' },
  method: { name: 'ServerReflectionInfo' },
};

/** Reflection adds its services itself: each call passes the gate before it reaches them. */
export function addReflection(server: Server, services: Implementation[], gate: Gate): void {
  type Reflect = (stream: ServerDuplexStream<unknown, unknown>) => void;
  const addService: Server['addService'] = (definition, handlers) => {
    const reflect = handlers['ServerReflectionInfo'] as Reflect;
    server.addService(definition, {
      ServerReflectionInfo(stream: ServerDuplexStream<unknown, unknown>) {
        const refusal = gate.enterStandard(stream as never, REFLECTION);
        if (refusal) stream.emit('error', refusal);
        else reflect(stream);
      },
    });
  };
  new ReflectionService(describeProtos(), {
    services: services.map(({ definition }) => definition.fullName),
  }).addToServer({ addService } as Server);
}

/**
 * The files for reflection, exactly as buf built them. The loader's copies use relative type names,
 * which tools such as grpcurl do not resolve. Reflection reads nothing but the files, and reads them
 * once for each entry: so there is one.
 */
function describeProtos(): PackageDefinition {
  const bytes = readFileSync(require.resolve('@bmg/proto/descriptors'));
  const files: Buffer[] = [];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    reader.tag();
    files.push(Buffer.from(reader.bytes()));
  }
  const format = 'Protocol Buffer 3 EnumDescriptorProto';
  return { all: { format, type: {}, fileDescriptorProtos: files } };
}
