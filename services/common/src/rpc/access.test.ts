// Every caller against every RPC on a running server: with certificates, and without.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import { DataDefinition } from '@bmg/proto/data';
import { HealthDefinition } from '@bmg/proto/health';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import {
  DirectoryDefinition,
  OnboardingDefinition,
  OperatorDefinition,
} from '@bmg/proto/onboarding';
import { createAuthority, writeFiles } from '../../test/authority';
import { call, HOST } from '../../test/rpc';
import { ApiError } from '../errors';
import { CALLER_NAMES, mayCall, operatorSecret, operatorSecretFile } from '../identity';
import { createLogger } from '../telemetry';
import { createRpcClient, createRpcServer, implement, type Call, type Definition } from '.';

const NAMESPACE = 'DNS:bmg-{caller}.messaging.svc';
const DEFINITIONS: Definition[] = [
  BroadcastsDefinition,
  DataDefinition,
  DirectoryDefinition,
  MessagingDefinition,
  NumberAdminDefinition,
  OnboardingDefinition,
  OperatorDefinition,
];
const log = createLogger('test');
log.level = 'silent';
const dir = mkdtempSync(join(tmpdir(), 'bmg-access-'));
const before = { ...process.env };
const open: Array<{ stop(): Promise<void> }> = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.stop()));
  process.env = { ...before };
});
beforeEach(() => {
  process.env['XDG_STATE_HOME'] = mkdtempSync(join(dir, 'state-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A server of all services that answers every admitted call NOT_FOUND. */
async function serve(host: string): Promise<number> {
  const refuse = () => {
    throw new ApiError('NOT_FOUND', 'admitted');
  };
  const services = DEFINITIONS.map((definition) =>
    implement(
      definition,
      Object.fromEntries(Object.keys(definition.methods).map((key) => [key, refuse])) as never,
    ),
  );
  const server = createRpcServer({ host, port: 0 }, services, log);
  await server.start(new AbortController().signal);
  open.push(server);
  return server.port;
}

/** `Service/Method` of the calls that the server admits. */
async function admitted(port: number, tls: object): Promise<string[]> {
  const asked = DEFINITIONS.flatMap((definition) => {
    const client = createRpcClient(definition, `${HOST}:${port}`, { tls });
    open.push(client);
    return Object.entries(definition.methods)
      .filter(([, method]) => !method.responseStream)
      .map(async ([key, { name, requestType }]) => {
        const send = client.rpc[key as never] as unknown as (
          request: unknown,
          call: Call,
        ) => Promise<unknown>;
        const error = await send(requestType.fromPartial({}), call()).catch((one: unknown) => one);
        return (error as ApiError).code === 'NOT_FOUND' ? [`${definition.name}/${name}`] : [];
      });
  });
  return (await Promise.all(asked)).flat();
}

const everyRpc = DEFINITIONS.flatMap(({ name: service, methods }) =>
  Object.values(methods)
    .filter((method) => !method.responseStream)
    .map(({ name }) => [service, name] as const),
);
const written = (rpcs: ReadonlyArray<readonly [string, string]>): string[] =>
  rpcs.map((rpc) => rpc.join('/'));

const authority = createAuthority();
/** The files of a certificate with this name. */
const filesOf = (name: string) => {
  const folder = join(dir, name.replaceAll(/\W/g, '-'));
  return writeFiles(folder, authority.issue({ names: [name] }), authority.certificate);
};
const nameOf = (caller: string): string => NAMESPACE.replace('{caller}', caller);
async function serveWithCertificates(): Promise<number> {
  Object.assign(process.env, filesOf(`IP:${HOST}`), { GRPC_IDENTITIES: NAMESPACE });
  return serve(HOST);
}

test('admits each caller to exactly the RPCs of its rows', async () => {
  const port = await serveWithCertificates();
  for (const caller of CALLER_NAMES) {
    const rows = everyRpc.filter(([service, method]) => mayCall([caller], service, method));
    expect([caller, await admitted(port, filesOf(nameOf(caller)))]).toEqual([
      caller,
      written(rows),
    ]);
  }
  // The operator of another team, by an authority that both share.
  for (const name of ['DNS:operator.other-team.svc', 'DNS:bmg-operator.other-team.svc']) {
    expect(await admitted(port, filesOf(name))).toEqual([]);
  }
});

test('closes health to unknown callers, and reflection to all but the operator', async () => {
  const port = await serveWithCertificates();
  const outcomesOf = async (name: string): Promise<unknown[]> => {
    const tls = filesOf(name);
    const health = createRpcClient(HealthDefinition, `${HOST}:${port}`, { tls });
    open.push(health);
    const check = await health.rpc.check({ service: '' }, call()).then(
      () => 'admitted',
      () => 'refused',
    );
    return [check, await reflect(port, tls)];
  };
  const refused = status.PERMISSION_DENIED;
  expect(await outcomesOf(nameOf('operator'))).toEqual(['admitted', 'admitted']);
  expect(await outcomesOf(nameOf('gateway'))).toEqual(['admitted', refused]);
  expect(await outcomesOf('DNS:stranger.other-team.svc')).toEqual(['refused', refused]);
});

/** How a request for the names of all services ends. */
const reflect = (port: number, files: ReturnType<typeof writeFiles>): Promise<unknown> =>
  new Promise((resolve) => {
    const read = (name: keyof typeof files): Buffer => readFileSync(files[name]);
    const tls = credentials.createSsl(
      read('GRPC_TLS_CA_FILE'),
      read('GRPC_TLS_KEY_FILE'),
      read('GRPC_TLS_CERT_FILE'),
    );
    const client = new Client(`${HOST}:${port}`, tls);
    open.push({ stop: async () => client.close() });
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
    const plain = (bytes: Buffer): Buffer => bytes;
    const stream = client.makeBidiStreamRequest(path, plain, plain);
    stream.on('data', () => {
      resolve('admitted');
      // An open stream would hold up the stop of the server.
      stream.cancel();
    });
    stream.on('error', (error) => resolve((error as ServiceError).code));
    // list_services, field 7, empty.
    stream.write(Buffer.from([0x3a, 0]));
  });

test('without certificates refuses every RPC to other machines', async () => {
  expect(await admitted(await serve('0.0.0.0'), {})).toEqual([]);
});

test.each<[string, string, object]>([
  ['on a loopback address', HOST, {}],
  ['where the setting allows it', '0.0.0.0', { GRPC_ALLOW_PLAINTEXT: 'true' }],
])('without certificates admits every call %s', async (_name, host, env) => {
  Object.assign(process.env, env);
  expect(await admitted(await serve(host), {})).toEqual(written(everyRpc));
});

describe('without certificates, on a loopback address', () => {
  const PATH = '/bmg.onboarding.v1.Operator/ListPartners';
  /** How the operator's RPC ends for a caller that sends these headers. */
  const outcomeOf = (port: number, headers: Record<string, string>): Promise<ServiceError | null> =>
    new Promise((resolve) => {
      const client = new Client(`${HOST}:${port}`, credentials.createInsecure());
      open.push({ stop: async () => client.close() });
      const metadata = Metadata.fromHttp2Headers(headers);
      const none = (): Buffer => Buffer.alloc(0);
      client.makeUnaryRequest(PATH, none, none, {}, metadata, (error) => resolve(error));
    });

  test('refuses the operator’s RPCs without this machine’s secret, and names its file', async () => {
    const port = await serve(HOST);
    for (const headers of [{}, { 'x-operator-secret': 'a guess' }, { 'x-operator-secret': '' }]) {
      const error = await outcomeOf(port, headers);
      expect(error?.code).toBe(status.PERMISSION_DENIED);
      expect(error?.details).toContain(operatorSecretFile());
      expect(error?.details).toContain('x-operator-secret');
      expect(error?.details).not.toContain(operatorSecret());
    }
    const admittedTo = await outcomeOf(port, { 'x-operator-secret': operatorSecret() });
    expect(admittedTo?.code).toBe(status.NOT_FOUND);
  });

  test('refuses them while others may read the secret', async () => {
    const port = await serve(HOST);
    const secret = operatorSecret();
    chmodSync(operatorSecretFile(), 0o644);
    const error = await outcomeOf(port, { 'x-operator-secret': secret });
    expect(error?.code).toBe(status.PERMISSION_DENIED);
  });
});
