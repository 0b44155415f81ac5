// Generates helm/files/services.yaml and helm/values.schema.json from the code (`make golden`), so
// that the chart passes exactly the settings that the services read and refuses a wrong value
// before an install.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { layOutJson } from '../testkit/json-layout';
import { definitions, EVERYWHERE, facts, OPERATOR, ROOT } from './facts';

const PAGE = join(ROOT, 'helm/files/services.yaml');
const SCHEMA = join(ROOT, 'helm/values.schema.json');
const writing = process.env['GOLDEN'] === 'write';

const HEAD = `# Facts about each service, generated from the code by \`make golden\`; do not edit. Its ports, the topics it
# consumes, whether it calls public addresses (outside), and the settings it reads. A setting <NAME>_ADDR
# means that it calls that service.

# Read by every process, besides its own settings.
everywhere: [${Object.keys(EVERYWHERE).join(', ')}]

services:
`;

function page(): string {
  const lines = Object.entries(facts()).flatMap(([name, one]) => [
    `  ${name}:`,
    `    metrics: ${one.metrics}`,
    ...(one.grpc === undefined ? [] : [`    grpc: ${one.grpc}`]),
    ...(one.http === undefined ? [] : [`    http: ${one.http}`]),
    `    outside: ${one.outside}`,
    ...list(
      'consumes',
      one.consumes.map(
        ({ group, topic, partitions }) =>
          `{ group: ${group}, topic: ${topic}, partitions: ${partitions} }`,
      ),
    ),
    ...read(one),
  ]);
  return `${HEAD}${lines.join('\n')}\n\noperator:\n${read(OPERATOR).join('\n').replaceAll(/^ {2}/gm, '')}\n`;
}

const read = (one: typeof OPERATOR): string[] => [
  ...list('settings', one.settings),
  ...list('secrets', one.secrets),
  ...list('optional_secrets', one.optional_secrets),
];

const list = (name: string, items: string[]): string[] =>
  items.length === 0
    ? [`    ${name}: []`]
    : [`    ${name}:`, ...items.map((item) => `      - ${item}`)];

function schema(): string {
  const read = JSON.parse(readFileSync(SCHEMA, 'utf8')) as {
    definitions: Record<string, { properties: unknown }>;
  };
  for (const [name, properties] of Object.entries(definitions())) {
    (read.definitions[name] as { properties: unknown }).properties = properties;
  }
  return layOutJson(read);
}

test('files/services.yaml is in step with the code', () => {
  if (writing) writeFileSync(PAGE, page());
  expect(readFileSync(PAGE, 'utf8')).toBe(page());
});

test('values.schema.json has every setting and secret, with the rules of the code', () => {
  if (writing) writeFileSync(SCHEMA, schema());
  expect(readFileSync(SCHEMA, 'utf8')).toBe(schema());
});

test('values.schema.json refuses unknown properties in every object', () => {
  const open: string[] = [];
  const walk = (node: unknown, path: string): void => {
    if (Array.isArray(node)) return node.forEach((one, at) => walk(one, `${path}/${at}`));
    if (node === null || typeof node !== 'object') return;
    const { type, properties, additionalProperties } = node as Record<string, unknown>;
    if (type === 'object' && properties !== undefined && additionalProperties !== false) {
      open.push(path);
    }
    for (const [key, value] of Object.entries(node)) walk(value, `${path}/${key}`);
  };
  walk(JSON.parse(readFileSync(SCHEMA, 'utf8')), '');
  expect(open).toEqual([]);
});
