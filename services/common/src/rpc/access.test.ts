// Every caller against every RPC on a running server: with certificates, and without.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import { DataDefinition } from '@bmg/proto/data';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import {
  DirectoryDefinition,
  OnboardingDefinition,
  OperatorDefinition,
} from '@bmg/proto/onboarding';
import { createAuthority, writeFiles } from '../../testing/authority';
import { ApiError } from '../errors';
import { CALLER_NAMES, isSensitive, mayCall } from '../identity';
import { createLogger } from '../telemetry';
import { createRpcClient, createRpcServer, implement, type Call, type Definition } from '.';

const HOST = '127.0.0.1';
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
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const call = (): Call => ({
  deadline: Date.now() + 30_000,
  span: { traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags: 0 },
  request_id: 'test',
});

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
    const client = createRpcClient(definition, `${HOST}:${port}`, tls);
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

test('admits each caller to exactly the RPCs of its rows', async () => {
  const authority = createAuthority();
  const filesOf = (folder: string, names: string[]) =>
    writeFiles(join(dir, folder), authority.issue({ names }), authority.certificate);
  const nameOf = (caller: string): string => NAMESPACE.replace('{caller}', caller);
  Object.assign(process.env, filesOf('server', [`IP:${HOST}`]), { GRPC_IDENTITIES: NAMESPACE });
  const port = await serve(HOST);
  for (const caller of CALLER_NAMES) {
    const rows = everyRpc.filter(([service, method]) => mayCall([caller], service, method));
    expect([caller, await admitted(port, filesOf(caller, [nameOf(caller)]))]).toEqual([
      caller,
      written(rows),
    ]);
  }
  // The operator of another team, by an authority that both share.
  for (const name of ['DNS:operator.other-team.svc', 'DNS:bmg-operator.other-team.svc']) {
    expect(await admitted(port, filesOf('stranger', [name]))).toEqual([]);
  }
});

test('without certificates refuses the sensitive RPCs to other machines', async () => {
  const port = await serve('0.0.0.0');
  const open_to_all = everyRpc.filter(([service, method]) => !isSensitive(service, method));
  expect(await admitted(port, {})).toEqual(written(open_to_all));
  expect(open_to_all.length).toBeLessThan(everyRpc.length);
});

test.each<[string, string, object]>([
  ['on a loopback address', HOST, {}],
  ['where the setting allows it', '0.0.0.0', { GRPC_ALLOW_PLAINTEXT: 'true' }],
])('without certificates admits every call %s', async (_name, host, env) => {
  Object.assign(process.env, env);
  expect(await admitted(await serve(host), {})).toEqual(written(everyRpc));
});
