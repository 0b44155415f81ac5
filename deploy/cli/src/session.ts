// One command's connection to the mesh: the gRPC clients, the deadline of its calls, and the
// explanation of a failure.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsSettings } from '@bmg/common/config';
import { ApiError, notAllowedReason } from '@bmg/common/errors';
import { createRpcClient, type Call, type Client, type Definition } from '@bmg/common/rpc';
import { OperatorDefinition } from '@bmg/proto/onboarding';

export type Address = readonly [setting: string, fallback: string];

/** The methods of a gRPC service; a call that is not given has the usual deadline. */
export type Calls<D extends Definition> = {
  [M in keyof Client<D>]: (
    request: Parameters<Client<D>[M]>[0],
    call?: Call,
  ) => ReturnType<Client<D>[M]>;
};

export type Session = ReturnType<typeof openSession>;

/** The services with a database, in the order in which a purge deletes a client's data. */
export const SERVICES = {
  messaging: ['MESSAGING_ADDR', '127.0.0.1:50052'],
  templates: ['TEMPLATES_ADDR', '127.0.0.1:50053'],
  broadcasts: ['BROADCASTS_ADDR', '127.0.0.1:50054'],
  webhooks: ['WEBHOOKS_ADDR', '127.0.0.1:50056'],
  onboarding: ['ONBOARDING_ADDR', '127.0.0.1:50051'],
  'number-admin': ['NUMBER_ADMIN_ADDR', '127.0.0.1:50055'],
} as const satisfies Record<string, Address>;

/** Arguments that fit the grammar but not each other, or not a service's rules. */
export class UsageError extends Error {}

const DEADLINE_MS = 15_000;

/**
 * A setting: from the environment, else from the mesh that runs in this folder, else the fallback.
 */
export function settingOf(name: string, fallback: string): string {
  const given = process.env[name];
  if (given) return given;
  const file = join(process.cwd(), '.run', 'env');
  const line = existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .find((one) => one.startsWith(`${name}=`))
    : undefined;
  return line?.slice(name.length + 1) ?? fallback;
}

/** The operator's certificate, for a mesh that uses mutual TLS. */
function operatorTls(): TlsSettings {
  const tls = {
    GRPC_TLS_CERT_FILE: settingOf('GRPC_TLS_CERT_FILE', ''),
    GRPC_TLS_KEY_FILE: settingOf('GRPC_TLS_KEY_FILE', ''),
    GRPC_TLS_CA_FILE: settingOf('GRPC_TLS_CA_FILE', ''),
  };
  const missing = Object.entries(tls).flatMap(([name, value]) => (value === '' ? [name] : []));
  if (missing.length === 1 || missing.length === 2) {
    throw new Error(`${missing.join(' and ')} must be set too: mutual TLS needs all three files`);
  }
  return tls;
}

const callWithin = (limit_ms = DEADLINE_MS): Call => ({
  deadline: Date.now() + limit_ms,
  span: {
    traceId: randomUUID().replaceAll('-', ''),
    spanId: randomUUID().replaceAll('-', '').slice(0, 16),
    traceFlags: 0,
  },
  request_id: `cli-${randomUUID()}`,
});

export function openSession() {
  const open: Array<{ stop(): Promise<void> }> = [];
  const tls = operatorTls();
  /** `address` is the setting that holds the service's address, and the default. */
  const client = <D extends Definition>(
    definition: D,
    address: Address = SERVICES.onboarding,
  ): Calls<D> => {
    const made = createRpcClient(definition, settingOf(...address), { tls });
    open.push(made);
    const rpc = made.rpc as Record<string, (request: unknown, call: Call) => unknown>;
    return new Proxy(rpc, {
      get:
        (target, method: string) =>
        (request: unknown, call = callWithin()) =>
          target[method]?.(request, call),
    }) as Calls<D>;
  };
  return {
    client,
    call: callWithin,
    /** Throws if there is no such partner; other services return an empty list. */
    async requirePartner(partner_id: string): Promise<void> {
      await client(OperatorDefinition).getPartner({ partner_id });
    },
    async close(): Promise<void> {
      await Promise.all(open.map((one) => one.stop()));
    },
  };
}

/** For options that a service checks: a value that it rejects is a wrong argument. */
export function rejected(error: unknown): never {
  const invalid = error instanceof ApiError && error.code === 'INVALID_FIELD';
  throw invalid ? new UsageError(error.message) : error;
}

export const isUnavailable = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE';

export const doesNotAnswer = (address: Address): string =>
  `does not answer at ${settingOf(...address)}`;

/**
 * The command line runs in a pod of the chart, not beside the mesh of `make up`: Kubernetes sets
 * this in every pod.
 */
const isInCluster = (env: NodeJS.ProcessEnv): boolean =>
  env['KUBERNETES_SERVICE_HOST'] !== undefined;

/** For a gateway that reports a service as down. */
export const readLogs = (env: NodeJS.ProcessEnv = process.env): string =>
  isInCluster(env)
    ? 'read the log of the service that is down: kubectl logs deploy/bmg-<name>'
    : 'read the log of the service that is down (.run/<name>.log), then start it with make up';

/** For a service that does not respond; `setting` holds its address. */
export const findService = (setting: string, env: NodeJS.ProcessEnv = process.env): string =>
  isInCluster(env)
    ? `look at its pods (kubectl get pods, kubectl logs), or set ${setting} to its address`
    : `start the mesh (make up), or set ${setting} to its address`;

/** A failure as one line for a person, with the remedy if it is known. */
export function explain(error: unknown): string {
  if (isUnavailable(error)) {
    return (
      `the onboarding service ${doesNotAnswer(SERVICES.onboarding)}: ${findService('ONBOARDING_ADDR')} ` +
      '(and GRPC_TLS_… where it uses mutual TLS)'
    );
  }
  const message = error instanceof Error ? error.message : String(error);
  return notAllowedReason(error) ?? message;
}
