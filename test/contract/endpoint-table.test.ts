// The endpoint table matches the contract and the protos. Its rows have all RPCs for partners:
// access.test.ts finds a call of each RPC that the gateway may make.
import type { Method } from '@bmg/common/rpc';
import { isAudited } from '../../gateway/src/audit/audited';
import { chapters, endpoints } from '../../gateway/src/endpoints';
import { keyScopeOf, usageName, type Endpoint } from '../../gateway/src/endpoints/endpoint';
import { documentPath, operationName } from '../../gateway/src/openapi';
import { exampleOf } from '../../gateway/src/openapi/example';
import { compile, type Schema } from '../../gateway/src/endpoints/parts/schema';
import { messageOf, requestOf, samples } from './request-messages';

const route = (endpoint: Endpoint): string => `${endpoint.verb} ${documentPath(endpoint)}`;
const chapter = (name: string): string[] => {
  const found = chapters.find((one) => one.name === name);
  if (!found) throw new Error(`there is no chapter ${name}`);
  return found.rows.map(route);
};
const routesWhere = (holds: (endpoint: Endpoint) => boolean): string[] =>
  endpoints.filter(holds).map(route).sort();

describe('the table', () => {
  test('has the 68 endpoints of the contract; all others are marked as additions', () => {
    expect(endpoints.filter(({ addition }) => !addition).length + 1).toBe(68);
  });

  test('has a summary, docs with notes and a unique name for each row, and a description for each path parameter', () => {
    const names = endpoints.map(operationName);
    const undescribed = endpoints.filter(({ notes = '' }) => !/^[A-Z`].*\.$/s.test(notes));
    expect(undescribed.map(operationName)).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    for (const { path, summary, answer, params = {}, stream } of endpoints) {
      expect(summary).toMatch(/^[A-Z][^\n]{8,99}[^.\s]$/);
      expect(answer === undefined).toBe(stream === true);
      const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
      expect([path, Object.keys(params)]).toEqual([path, named]);
    }
  });
});

test('a connect token completes a sign-up and opens nothing else; no row goes without authentication', () => {
  expect(routesWhere(({ scope }) => scope === 'session')).toEqual([
    'POST /clients/register-from-code',
  ]);
  expect(routesWhere(({ scope }) => scope === 'none')).toEqual([]);
});

test('the rate limit counts all rows but number setup, diagnostics, phone lifecycle and groups', () => {
  const uncounted = [
    ...chapter('Number setup'),
    ...chapter('Account and diagnostics'),
    ...chapter('Phone number lifecycle'),
    ...chapter('Calling and groups').filter((name) => name !== 'POST /calls'),
  ];
  expect(uncounted.length).toBeGreaterThanOrEqual(14 + 7 + 5 + 5);
  expect(routesWhere(({ counted }) => counted === false)).toEqual(uncounted.sort());
});

test('the usage record keeps both downloads under one name and every other row under its path', () => {
  for (const endpoint of endpoints) {
    const expected = endpoint.stream ? '/media/download' : documentPath(endpoint);
    expect(usageName(endpoint)).toBe(expected);
  }
});

const OF_MESSAGES = [
  'check',
  'contacts',
  'interactive',
  'location',
  'media',
  'reaction',
  'read',
  'send',
  'template',
].map((name) => `POST /messages/${name}`);

test('what a key may do follows from the row: sends, bills, reads, and the rest', () => {
  const of = (scope: string): string[] => routesWhere((row) => keyScopeOf(row) === scope);
  expect(of('send')).toEqual([
    'POST /broadcasts',
    ...['cancel', 'pause', 'resume'].map((name) => `POST /broadcasts/{broadcast_id}/${name}`),
    'POST /calls',
    'POST /media/upload',
    ...OF_MESSAGES,
  ]);
  expect(of('billing')).toEqual(['GET /usage', 'GET /usage/ledger']);
  expect(of('read').filter((name) => !name.startsWith('GET '))).toEqual([]);
  expect(of('manage').filter((name) => name.startsWith('GET '))).toEqual([
    'GET /audit',
    'GET /keys',
    'GET /keys/{key_id}',
    'GET /people',
    'GET /people/{person_id}',
  ]);
});

describe('the audit log', () => {
  test('records every change but sends, and of those broadcasts', () => {
    const changes = endpoints.filter(({ verb }) => verb !== 'GET');
    const left_out = changes.filter((row) => !isAudited(row));
    expect(left_out.map(route).sort()).toEqual([
      'POST /calls',
      'POST /media/upload',
      ...OF_MESSAGES,
    ]);
    expect(routesWhere((row) => row.verb === 'GET' && isAudited(row))).toEqual([]);
  });

  const audited = endpoints.filter(isAudited);
  test.each(audited.map((row) => [route(row), row] as const))(
    '%s: keeps values of fields that its body has, and never those that are secret',
    (_route, { body, audit = {} }) => {
      const { values = [], before = [], before_of } = audit;
      const given = Object.keys(body?.properties ?? {});
      expect(values.filter((name) => !given.includes(name))).toEqual([]);
      expect(before.length > 0 ? before_of : 'none').toBeDefined();
      const secret =
        /token|secret|^pin|^code$|text|^message|users|contacts|participants|components/;
      expect([...values, ...before].filter((name) => secret.test(name))).toEqual([]);
    },
  );
});

describe('the methods behind the rows', () => {
  test.each(endpoints.map((endpoint) => [route(endpoint), endpoint] as const))(
    '%s: streams if the row does, and declares NO_SIDE_EFFECTS if it is a read, which is retried',
    (_route, { verb, rpc, stream = false }) => {
      const methods = rpc.definition.methods as Readonly<Record<string, Method>>;
      const { requestStream, responseStream, options } = methods[rpc.method] as Method;
      expect({ requestStream, responseStream }).toEqual({
        requestStream: false,
        responseStream: stream,
      });
      // A check takes a body, but reads only.
      const reads = verb === 'GET' || rpc.method === 'checkMessage';
      expect(options.idempotencyLevel === 'NO_SIDE_EFFECTS').toBe(reads);
    },
  );
});

describe('schemas', () => {
  const rows = endpoints.filter(({ body, query }) => body ?? query);

  test.each(rows.map((endpoint) => [route(endpoint), endpoint] as const))(
    '%s: compile strictly and accept the example',
    (_route, { body, query, example }) => {
      if (query) expect(() => compile(query, 'query')(exampleOf(query))).not.toThrow();
      if (!body) return;
      const check = compile(body, 'body');
      expect(example).toBeDefined();
      expect(() => check(structuredClone(example))).not.toThrow();
    },
  );

  const lists = (schema: Schema): Schema[] => [
    ...(schema.items ? [schema, ...lists(schema.items)] : []),
    ...Object.values(schema.properties ?? {}).flatMap(lists),
  ];
  test('every list whose items are checked has a maximum length', () => {
    const unbounded = rows.filter(({ body }) =>
      lists(body ?? {}).some(({ maxItems }) => maxItems === undefined),
    );
    expect(unbounded.map(route)).toEqual([]);
  });

  const numbers = ({ type, properties = {}, items, ...schema }: Schema): Schema[] => [
    ...(['integer', 'number'].includes(String(type)) ? [schema] : []),
    ...[...Object.values(properties), ...(items ? [items] : [])].flatMap(numbers),
  ];
  test('every number has a minimum and a maximum', () => {
    const unbounded = rows.filter(({ body = {}, query = {} }) =>
      [...numbers(body), ...numbers(query)].some(
        ({ minimum, maximum }) => minimum === undefined || maximum === undefined,
      ),
    );
    expect(unbounded.map(route)).toEqual([]);
  });

  // If query, body and path are the request, the compiler compares schema and RPC. It cannot see
  // whether a mapping reads every property.
  const properties = rows
    .filter(({ request }) => request)
    .flatMap((endpoint) =>
      [...samples(endpoint)].map(
        (sample) => [`${route(endpoint)}: ${sample.field}`, endpoint, sample] as const,
      ),
    );

  // The gateway checks it; it is not part of the call.
  const endAtTheEdge = ['confirm'];

  test.each(properties)('%s changes the gRPC message', async (_name, endpoint, sample) => {
    const { field } = sample;
    const with_it = messageOf(endpoint, await requestOf(endpoint, sample.with));
    const without_it = messageOf(endpoint, await requestOf(endpoint, sample.without));
    if (endAtTheEdge.includes(field)) {
      expect(with_it).toEqual(without_it);
      return;
    }
    expect(with_it).not.toEqual(without_it);
  });
});
