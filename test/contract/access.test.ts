// The gRPC access table matches the code: a caller may call exactly the methods that its code
// calls.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CALLER_NAMES, mayCall, RPCS, type Caller } from '@bmg/common/identity';
import { ApiError } from '@bmg/common/errors';
import { createRpcClient, createRpcServer, implement, type Definition } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';

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

describe('without certificates', () => {
  const HOST = '127.0.0.1';
  const state = mkdtempSync(join(tmpdir(), 'bmg-access-'));
  const env = { ...process.env };
  const open: Array<{ stop(): Promise<void> }> = [];
  beforeEach(() => {
    process.env['XDG_STATE_HOME'] = state;
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.stop()));
    process.env = { ...env };
  });
  afterAll(() => rmSync(state, { recursive: true, force: true }));

  const served = definitions
    .map(({ definition }) => definition)
    .filter(({ name }) => name !== 'Health');
  /** An RPC that was added without a row. */
  const unclassified = (): Definition => {
    const [one] = served as [Definition];
    // Copies: a method's wire form is kept by the object.
    const methods = Object.fromEntries(
      Object.entries(one.methods).map(([key, method]) => [key, { ...method }]),
    );
    return { name: 'Unclassified', fullName: 'bmg.test.v1.Unclassified', methods };
  };

  /** The outcome of every RPC of the protos, and of one that has no row, by `Service/Method`. */
  async function outcomes(host: string): Promise<Array<[call: string, code: string]>> {
    const all = [...served, unclassified()];
    const log = createLogger('test');
    log.level = 'silent';
    const admit = () => {
      throw new ApiError('NOT_FOUND', 'admitted');
    };
    const server = createRpcServer(
      { host, port: 0 },
      all.map((definition) =>
        implement(
          definition,
          Object.fromEntries(Object.keys(definition.methods).map((key) => [key, admit])) as never,
        ),
      ),
      log,
    );
    await server.start(new AbortController().signal);
    open.push(server);
    const calls = all.flatMap((definition) => {
      const client = createRpcClient(definition, `${HOST}:${server.port}`);
      open.push(client);
      return Object.entries(definition.methods).map(
        async ([key, method]): Promise<[string, string]> => {
          const call = {
            deadline: Date.now() + 60_000,
            span: { traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags: 0 },
            request_id: 'test',
          };
          const send = client.rpc[key] as (request: unknown, of: typeof call) => unknown;
          const answer = send(method.requestType.fromPartial({}), call);
          const end = method.responseStream
            ? (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]().next()
            : (answer as Promise<unknown>);
          const error = await end.then(
            () => undefined,
            (failure: unknown) => failure as ApiError,
          );
          return [`${definition.name}/${method.name}`, error?.code ?? 'OK'];
        },
      );
    });
    return Promise.all(calls);
  }
  const admitted = async (host: string): Promise<string[]> =>
    (await outcomes(host)).flatMap(([call, code]) => (code === 'NOT_FOUND' ? [call] : []));
  const rows = Object.entries(RPCS).flatMap(([service, methods]) =>
    Object.keys(methods).map((method) => `${service}/${method}`),
  );

  test('refuses every RPC to other machines', async () => {
    expect(await admitted('0.0.0.0')).toEqual([]);
  });

  test('admits an RPC only with a row: on a loopback address, or when the setting opens it', async () => {
    expect((await admitted(HOST)).sort()).toEqual(rows.sort());
    process.env['GRPC_ALLOW_PLAINTEXT'] = 'true';
    expect((await admitted('0.0.0.0')).sort()).toEqual(rows.sort());
  });

  test('needs this machine’s secret on a loopback address for the operator’s RPCs', async () => {
    // A file instead of the folder: neither side can read or make the secret.
    process.env['XDG_STATE_HOME'] = __filename;
    const open_to_all = rows.filter((row) => {
      const [service, method] = row.split('/') as [string, string];
      return CALLER_NAMES.some(
        (caller) => caller !== 'operator' && mayCall([caller], service, method),
      );
    });
    expect((await admitted(HOST)).sort()).toEqual(open_to_all.sort());
    expect(open_to_all.length).toBeLessThan(rows.length - 10);
  });
});
