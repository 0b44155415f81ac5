// The gRPC access table matches the code: a caller may call exactly the methods that its code
// calls.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { audienceOf, CALLER_NAMES, mayCall, RPCS, type Caller } from '@bmg/common/identity';
import { ApiError } from '@bmg/common/errors';
import {
  createRpcClient,
  createRpcServer,
  implement,
  type Call,
  type Definition,
} from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { aCall } from '../testkit/call';

const ROOT = join(__dirname, '../..');
const PROTO = join(ROOT, 'proto/gen/bmg');

/** Every service of the protos, with its methods as the code spells them. */
const definitions = readdirSync(PROTO).flatMap((name) => {
  const loaded = require(join(PROTO, name, 'v1', `${name}.ts`)) as Record<string, unknown>;
  return Object.entries(loaded)
    .filter(([exported]) => exported.endsWith('Definition'))
    .map(([exported, definition]) => ({ exported, definition: definition as Definition }));
});

const SOURCES: Record<Caller, string | undefined> = {
  gateway: 'gateway/src',
  messaging: 'services/messaging/src',
  templates: 'services/templates/src',
  'number-admin': 'services/number-admin/src',
  broadcasts: 'services/broadcasts/src',
  webhooks: 'services/webhooks/src',
  fanout: 'services/fanout/src',
  operator: 'deploy/cli/src',
  // Internal callers are outside this repository; the example represents them.
  internal: 'proto/examples',
};

/** Reads credentials without calling the upstream: they state whether a number may send. */
const READS_STATE_ONLY = ['broadcasts'];

function sourceOf(path: string): string {
  return readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(ROOT, path, file), 'utf8'))
    .join('\n');
}

/** Calls that the shared runtime makes on behalf of the services that use it. */
const SHARED: Array<[used: string, call: string]> = [
  ['createCredentials(', 'Directory/GetCredentials'],
  ['ownersFrom(', 'Directory/GetOwners'],
  ['purge(purgeRows', 'Directory/GetOwners'],
  ['reportAlerts(', 'Alerts/ListWatchers'],
  ['reportAlerts(', 'Alerts/RaiseAlert'],
];

/** Returns `Service/Method` of every call in the source of a caller. */
function callsOf(path: string): Set<string> {
  const source = sourceOf(path);
  const found = new Set(SHARED.flatMap(([used, call]) => (source.includes(used) ? [call] : [])));
  for (const { exported, definition } of definitions) {
    const isServer = new RegExp(`implement(Part)?\\(${exported}\\b`).test(source);
    if (!source.includes(exported) || isServer) continue;
    for (const [key, method] of Object.entries(definition.methods)) {
      // Called on a client, named in an endpoint row, or picked from the client's type.
      if (new RegExp(`\\.${key}\\b|'${key}'`).test(source)) {
        found.add(`${definition.name}/${method.name}`);
      }
    }
  }
  return found;
}

const callers = [...CALLER_NAMES];
/** `Service/Method` of every RPC that the caller may use. */
const allowedTo = (caller: Caller): string[] =>
  Object.entries(RPCS).flatMap(([service, methods]) =>
    Object.keys(methods)
      .filter((method) => mayCall([caller], service, method))
      .map((method) => `${service}/${method}`),
  );

test('has a row for every RPC, and none for others', () => {
  const declared = definitions
    .filter(({ definition }) => definition.name !== 'Health')
    .flatMap(({ definition }) =>
      Object.values(definition.methods).map(({ name }) => `${definition.name}/${name}`),
    );
  const rows = Object.entries(RPCS).flatMap(([service, methods]) =>
    Object.keys(methods).map((method) => `${service}/${method}`),
  );
  expect(rows.sort()).toEqual(declared.sort());
});

test.each(callers.filter((caller) => caller !== 'internal'))(
  'allows %s every call that it makes',
  (caller) => {
    const calls = [...callsOf(SOURCES[caller] as string)];
    expect(calls.length).toBeGreaterThan(0);
    const refused = calls.filter((call) => {
      const [service, method] = call.split('/') as [string, string];
      return !mayCall([caller], service, method);
    });
    expect(refused).toEqual([]);
  },
);

/** Deprecated RPCs, which only callers of the previous release use. */
const LAST_RELEASE: Partial<Record<Caller, string[]>> = {
  gateway: ['Directory/Authenticate'],
  messaging: ['Directory/GetCredential'],
  templates: ['Directory/GetCredential'],
  'number-admin': ['Directory/GetCredential'],
  broadcasts: [
    'Directory/GetCredential',
    'Messaging/SendBroadcastMessage',
    'Templates/ListTemplates',
  ],
  webhooks: ['Directory/GetReceiver'],
};

/** Callers whose calls are not all in the code. */
const NOT_IN_CODE: Caller[] = ['operator', 'internal'];

test.each(callers.filter((caller) => !NOT_IN_CODE.includes(caller)))(
  'allows %s only the methods that it calls',
  (caller) => {
    const calls = callsOf(SOURCES[caller] as string);
    const expected = LAST_RELEASE[caller] ?? [];
    expect(allowedTo(caller).filter((call) => !calls.has(call))).toEqual(expected);
  },
);

test('gives upstream tokens only to services that call the upstream, and to broadcasts', () => {
  const upstream = callers.filter((caller) =>
    sourceOf(SOURCES[caller] as string).includes('createUpstream('),
  );
  for (const method of ['GetCredential', 'GetCredentials']) {
    const allowed = callers.filter((caller) => mayCall([caller], 'Directory', method));
    expect(allowed.sort()).toEqual([...upstream, ...READS_STATE_ONLY].sort());
  }
});

test('allows the Operator service to the operator only', () => {
  const others = callers.filter((caller) => caller !== 'operator');
  const operator = definitions.find(({ definition }) => definition.name === 'Operator');
  for (const { name } of Object.values(operator?.definition.methods ?? {})) {
    expect(others.filter((caller) => mayCall([caller], 'Operator', name))).toEqual([]);
  }
});

test('keeps for the operator with this machine’s secret what no process of the mesh calls', () => {
  const others = callers.filter((caller) => caller !== 'operator');
  const rows = Object.entries(RPCS).flatMap(([service, methods]) =>
    Object.keys(methods).map((method) => ({
      row: `${service}/${method}`,
      audience: audienceOf(service, method),
      is_called: others.some((caller) => mayCall([caller], service, method)),
    })),
  );
  const named = rows.filter(({ audience }) => audience === 'operator');
  expect(named).toEqual(rows.filter(({ is_called }) => !is_called));
  expect(named.length).toBeGreaterThan(10);
});

// services/common/src/rpc/access.test.ts proves who reaches an RPC with a row.
test.each<[host: string, setting: object]>([
  ['127.0.0.1', {}],
  ['0.0.0.0', { GRPC_ALLOW_PLAINTEXT: 'true' }],
])('without certificates an RPC without a row is refused at %s', async (host, setting) => {
  const before = { ...process.env };
  Object.assign(process.env, setting);
  const [known] = definitions.filter(({ exported }) => exported === 'DirectoryDefinition');
  const { definition } = known as { definition: Definition };
  // Copies: a method's wire form is kept by the object.
  const copied = Object.entries(definition.methods).map(([key, one]) => [key, { ...one }]);
  const strange: Definition = {
    name: 'Unclassified',
    fullName: 'bmg.test.v1.Unclassified',
    methods: Object.fromEntries(copied),
  };
  const log = createLogger('test');
  log.level = 'silent';
  const admit = () => {
    throw new ApiError('NOT_FOUND', 'admitted');
  };
  const services = [definition, strange].map((one) =>
    implement(one, Object.fromEntries(copied.map(([key]) => [key, admit])) as never),
  );
  const server = createRpcServer({ host, port: 0 }, services, log);
  await server.start(new AbortController().signal);
  const outcomes = [definition, strange].map(async (one) => {
    const client = createRpcClient(one, `127.0.0.1:${server.port}`);
    const send = client.rpc['getOwners'] as (request: unknown, of: Call) => Promise<unknown>;
    const request = one.methods['getOwners']?.requestType.fromPartial({});
    const error = await send(request, aCall()).catch((failure: unknown) => failure);
    await client.stop();
    return (error as ApiError).code;
  });
  expect(await Promise.all(outcomes)).toEqual([
    'NOT_FOUND',
    expect.not.stringMatching('NOT_FOUND'),
  ]);
  await server.stop();
  process.env = before;
});
