// The OpenAPI document keeps to what generators of clients read alike. Each rule was a generator
// that failed, or that made code which did not compile.
import { chapters } from '../../gateway/src/endpoints';
import { buildOpenApi } from '../../gateway/src/openapi';
import { operationsOf, schemasOf } from './openapi-structure';

type Json = Record<string, unknown>;

const INT32_MAX = 2 ** 31 - 1;
const document = buildOpenApi(chapters, { public_url: 'https://gateway.example.com' });

/** Every schema that a generator reads, with its place: what is inside `if` and `else` it skips. */
const shown: Array<[string, Json]> = [];
function walk(schema: Json, where: string): void {
  shown.push([where, schema]);
  for (const [name, one] of Object.entries((schema['properties'] ?? {}) as Record<string, Json>)) {
    walk(one, `${where}.${name}`);
  }
  for (const key of ['items', 'additionalProperties', 'not']) {
    if (typeof schema[key] === 'object') walk(schema[key] as Json, `${where}/${key}`);
  }
  for (const key of ['allOf', 'anyOf', 'oneOf']) {
    const list = (schema[key] ?? []) as Json[];
    list.forEach((one, index) => walk(one, `${where}/${key}/${index}`));
  }
}
for (const [where, schema] of schemasOf(document)) walk(schema as Json, where);

const places = (isFault: (schema: Json, where: string) => boolean): string[] =>
  shown.filter(([where, schema]) => isFault(schema, where)).map(([where]) => where);
const typesOf = ({ type }: Json): string[] => [type ?? []].flat() as string[];

test('rules between fields are in if and else only', () => {
  expect(
    places((schema) => ['allOf', 'oneOf', 'not', 'then'].some((key) => key in schema)),
  ).toEqual([]);
  expect(places((schema) => 'if' in schema).length).toBeGreaterThan(15);
  expect(
    places((schema) => 'if' in schema && JSON.stringify(schema['else']) !== '{"not":{}}'),
  ).toEqual([]);
});

test('a value has one type, perhaps with null', () => {
  expect(places((schema) => typesOf(schema).filter((one) => one !== 'null').length > 1)).toEqual(
    [],
  );
  // Only null is no type for most languages, except beside a reference.
  expect(
    places((schema, where) => typesOf(schema).join() === 'null' && !where.endsWith('/anyOf/1')),
  ).toEqual([]);
});

test('alternatives are a reference or null, or a text or a reference', () => {
  const forms = new Set(
    shown.flatMap(([, { anyOf }]) =>
      anyOf ? [(anyOf as Json[]).map((one) => one['type'] ?? 'reference').join(' or ')] : [],
    ),
  );
  expect([...forms].sort()).toEqual(['reference or null', 'string or reference']);
});

test('a component is never null: the null is beside the reference', () => {
  for (const [name, schema] of Object.entries(document.components['schemas'] as Json)) {
    expect([name, typesOf(schema as Json)]).not.toEqual([name, expect.arrayContaining(['null'])]);
  }
});

test('numbers have a format that holds them', () => {
  const faults = places((schema) => {
    const [type] = typesOf(schema);
    if (type === 'number') return schema['format'] !== 'double';
    if (type !== 'integer') return false;
    const maximum = (schema['maximum'] ?? Infinity) as number;
    return schema['format'] !== (maximum > INT32_MAX ? 'int64' : 'int32');
  });
  expect(faults).toEqual([]);
});

test('a constant is a text', () => {
  expect(places((schema) => 'const' in schema && typesOf(schema).join() !== 'string')).toEqual([]);
});

test('no schema has the name of what generators make beside the schemas', () => {
  const taken = ['Client', 'Success', 'Response', 'Configuration', 'ApiClient', 'ApiResponse'];
  const names = Object.keys(document.components['schemas'] as Json);
  expect(names.filter((name) => taken.includes(name))).toEqual([]);
});

test('every component that an event needs is part of an answer too', () => {
  // Generators leave out what no operation reaches.
  const { webhooks, ...rest } = document;
  const used = (part: unknown) =>
    new Set(
      [...JSON.stringify(part).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name),
    );
  const inAnswers = used(rest);
  expect([...used(webhooks)].filter((name) => !inAnswers.has(name))).toEqual([]);
});

test('downloads have a type that generators know, and cursors a bound', () => {
  const downloads = operationsOf(document).filter(({ operation }) =>
    JSON.stringify(operation.responses).includes('*/*'),
  );
  expect(downloads).not.toEqual([]);
  for (const { operation } of downloads) {
    expect(JSON.stringify(operation.responses)).toContain('"application/octet-stream"');
  }
  const cursors = operationsOf(document)
    .flatMap(({ parameters }) => parameters)
    .filter(
      ({ name, schema }) =>
        ['cursor', 'after', 'before'].includes(name) && schema['type'] === 'string',
    );
  expect(cursors.length).toBeGreaterThan(5);
  for (const { schema } of cursors) {
    // Only the upstream knows the form of its cursors.
    expect('pattern' in schema || 'maxLength' in schema).toBe(true);
  }
});

test('cursors of the gateway have the pattern of their parameter in answers too', () => {
  const cursors = shown.filter(([where]) => /\.paging\.cursors\.\w+$|Ledger\w*\.next$/.test(where));
  const [own, upstream] = [true, false].map((isOwn) =>
    cursors
      .filter(([, schema]) => 'pattern' in schema === isOwn)
      .map(([where]) => where.replace(/^.*\//, '')),
  );
  expect(own).toEqual([
    'ListMessagesAnswer.paging.cursors.after',
    'GetLedgerAnswer.next',
    'ListFailedEventsAnswer.paging.cursors.after',
    'ListAuditAnswer.paging.cursors.after',
  ]);
  // Only the upstream knows the form of its cursors.
  expect(new Set(upstream?.map((where) => where.replace(/\..*/, '')))).toEqual(
    new Set(['ListBlockedAnswer', 'ListGroupsAnswer', 'ListLibraryTemplatesAnswer']),
  );
  const patternOf = ([, schema]: [string, Json]): unknown => schema['pattern'];
  const [parameter] = operationsOf(document)
    .flatMap(({ parameters }) => parameters)
    .filter(({ name }) => name === 'cursor');
  expect(new Set(cursors.map(patternOf).filter(Boolean))).toEqual(
    new Set([parameter?.schema['pattern']]),
  );
});
