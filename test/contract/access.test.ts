// The gRPC access table matches the code: a caller may call exactly the methods that its code calls.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CALLER_NAMES, isSensitive, mayCall, RPCS, type Caller } from '@bmg/common/identity';
import type { Definition } from '@bmg/common/rpc';
import { endpoints } from '../../gateway/src/endpoints';

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

/** Calls that the shared runtime makes for the services that use it. */
const SHARED: Array<[used: string, call: string]> = [
  ['createCredentials(', 'Directory/GetCredential'],
  ['createCredentials(', 'Directory/GetCredentials'],
  ['ownersFrom(', 'Directory/GetOwners'],
  ['reportAlerts(', 'Alerts/ListWatchers'],
  ['reportAlerts(', 'Alerts/RaiseAlert'],
];

/** Returns `Service/Method` of every call in the source of a caller. */
function callsOf(path: string): Set<string> {
  const source = sourceOf(path);
  const found = new Set(SHARED.flatMap(([used, call]) => (source.includes(used) ? [call] : [])));
  for (const { exported, definition } of definitions) {
    const isServer = source.includes(`implement(${exported}`);
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

test('allows the gateway the method of every endpoint', () => {
  const called = endpoints.flatMap(({ rpc, variant }) => [rpc, ...(variant ? [variant.rpc] : [])]);
  const refused = called.filter(({ definition, method }) => {
    const name = (definition as Definition).methods[method]?.name as string;
    return !mayCall(['gateway'], definition.name, name);
  });
  expect(refused.map(({ method }) => method)).toEqual([]);
});

/** Callers whose calls are not all in the code. */
const NOT_IN_CODE: Caller[] = ['operator', 'internal'];

test.each(callers.filter((caller) => !NOT_IN_CODE.includes(caller)))(
  'allows %s only the methods that it calls',
  (caller) => {
    const calls = callsOf(SOURCES[caller] as string);
    expect(allowedTo(caller).filter((call) => !calls.has(call))).toEqual([]);
  },
);

test('gives upstream tokens only to services that call the upstream, and to broadcasts', () => {
  const allowed = callers.filter((caller) => mayCall([caller], 'Directory', 'GetCredential'));
  const upstream = callers.filter((caller) =>
    sourceOf(SOURCES[caller] as string).includes('createUpstream('),
  );
  expect(allowed.sort()).toEqual([...upstream, ...READS_STATE_ONLY].sort());
});

test('allows the Operator service to the operator only', () => {
  const others = callers.filter((caller) => caller !== 'operator');
  const operator = definitions.find(({ definition }) => definition.name === 'Operator');
  for (const { name } of Object.values(operator?.definition.methods ?? {})) {
    expect(others.filter((caller) => mayCall([caller], 'Operator', name))).toEqual([]);
  }
});

test('counts every method that returns a secret as sensitive', () => {
  const SECRETS = ['access_token', 'pin', 'webhook_secret', 'webhook_secrets', 'partner_key'];
  const showing = definitions.flatMap(({ definition }) =>
    Object.values(definition.methods)
      .filter(({ responseType }) => {
        const answer = responseType.fromPartial({}) as Record<string, unknown>;
        // The settings show when a secret was set: a message, not a text.
        return SECRETS.some(
          (key) => key in answer && !(key === 'webhook_secret' && !isText(answer)),
        );
      })
      .map(({ name }) => [definition.name, name] as const),
  );
  expect(showing.length).toBeGreaterThan(3);
  expect(showing.filter(([service, method]) => !isSensitive(service, method))).toEqual([]);
});

const isText = ({ webhook_secret }: Record<string, unknown>): boolean =>
  typeof webhook_secret === 'string';
