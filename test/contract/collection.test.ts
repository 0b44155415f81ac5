// The collection has every operation of the OpenAPI document, as the library of its format reads
// it.
import { chapters } from '../../gateway/src/endpoints';
import { buildOpenApi } from '../../gateway/src/openapi';
import { buildCollection, buildEnvironment } from '../../gateway/src/openapi/collection';
import { filled, readCollection } from './collection-items';
import { operationsOf } from './openapi-structure';

const ORIGIN = 'https://gateway.example.net';
const document = buildOpenApi(chapters, { public_url: ORIGIN });
const { folders, variables, auth } = readCollection(buildCollection(document));
const items = folders.flatMap(({ item }) => item);
const known = variables.map(({ key }) => key);

test('has a request for each operation, in the folders of the reference', () => {
  const wanted = operationsOf(document).map(
    ({ path, verb }) => `${verb.toUpperCase()} {{base_url}}${path.replace(/\{(\w+)\}/g, ':$1')}`,
  );
  const found = items.map(({ request: { method, url } }) =>
    [`${method} ${url.host.join('.')}`, ...url.path].join('/'),
  );
  expect(found.sort()).toEqual(wanted.sort());
  expect(folders.map(({ name }) => name)).toEqual(document.tags.map(({ name }) => name));
});

test('sends the key with every request but that for health', () => {
  const others = items.filter(({ request }) => request.auth !== undefined);
  expect(others.map(({ request }) => [request.url.path, request.auth?.type])).toEqual([
    [['health'], 'noauth'],
  ]);
  expect(auth.apikey.map(({ key, value }) => [key, value])).toEqual([
    ['in', 'header'],
    ['key', 'x-partner-key'],
    ['value', '{{partner_key}}'],
  ]);
});

test('uses its variables and no other, and holds no key', () => {
  const used = [...JSON.stringify(folders).matchAll(/\{\{([^{}]+)\}\}/g)];
  // Dynamic ones of the format, and placeholders of templates in examples.
  const own = used.map(([, name = '']) => name).filter((name) => !/^(\$\w+|\d+)$/.test(name));
  expect([...new Set(own), 'partner_key'].sort()).toEqual([...known].sort());
  expect(variables.find(({ key }) => key === 'partner_key')?.value).toBe('');
  expect(variables.find(({ key }) => key === 'base_url')?.value).toBe(`${ORIGIN}/v1`);
});

test('has an environment for a local mesh, with the same variables', () => {
  const { values } = buildEnvironment(document) as {
    values: Array<{ key: string; value: string; enabled: boolean }>;
  };
  expect(values.map(({ key }) => key)).toEqual(known);
  expect(values.every(({ enabled }) => enabled)).toBe(true);
  const local = Object.fromEntries(values.map(({ key, value }) => [key, value]));
  expect(filled('{{base_url}}/clients/{{waba_id}}', local)).toBe(
    'http://127.0.0.1:8080/v1/clients/900000000000001',
  );
});

test('has the examples of the document as bodies', () => {
  const bodies = items.flatMap(({ request }) => request.body ?? []);
  expect(bodies.length).toBeGreaterThan(25);
  for (const { raw } of bodies) expect(() => JSON.parse(raw) as unknown).not.toThrow();
});
