import { WHOLE_MAX } from '../../endpoints/parts/schema';
import type { OpenApiDocument } from '../../openapi';
import type { Json } from '../../openapi/schemas';
import { schemaFields, type Side } from './fields';

const document = {
  components: {
    schemas: {
      Quote: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    },
  },
} as unknown as OpenApiDocument;

/** The text of the fields, one line each, with `>` before the summary of fields below. */
function linesOf(schema: Json, side: Side = 'request'): string[] {
  return schemaFields(document, schema, side)
    .markup.replaceAll('<summary>', '> ')
    .replaceAll(/<\/(?:p|summary)>/g, '|')
    .replaceAll(/<[^>]+>/g, '')
    .split('|')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter((line) => line !== '');
}

const field = (property: Json): string[] =>
  linesOf({ type: 'object', properties: { name: property } });

test.each<[what: string, property: Json, lines: string[]]>([
  ['a text', { type: 'string', description: 'A `b`.' }, ['name string', 'A b.']],
  [
    'bounds',
    { type: 'string', minLength: 1, maxLength: 4096 },
    ['name string', '1–4,096 characters'],
  ],
  [
    'a single item',
    { type: 'array', items: {}, minItems: 1 },
    ['name array of values', 'At least 1 item'],
  ],
  [
    'a default',
    { type: 'integer', maximum: 9, default: 5 },
    ['name integer', 'At most 9; default 5'],
  ],
  [
    'a number that is lowered, not refused',
    { type: 'integer', minimum: 1, maximum: WHOLE_MAX },
    ['name integer', 'At least 1'],
  ],
  [
    'choices or null',
    { type: ['string', 'null'], enum: ['a', 'b', null] },
    ['name string or null', 'One of a, b'],
  ],
  ['a date', { type: 'string', format: 'date-time' }, ['name date-time']],
  [
    'a flag with one value',
    { type: 'boolean', if: { const: true } },
    ['name boolean', 'Always true'],
  ],
  [
    'several types',
    { if: { type: ['object', 'array', 'null'] } },
    ['name object or array or null'],
  ],
  ['null only', { type: ['string', 'null'], if: { type: 'null' } }, ['name null']],
  ['a pattern', { type: 'string', pattern: '^a$' }, ['name string', 'Matches ^a$']],
  ['a text that is not blank', { type: 'string', pattern: String.raw`\S` }, ['name string']],
  [
    'bounds of items',
    { type: 'array', items: { type: 'string', maxLength: 5 } },
    ['name array of strings', 'At most 5 characters'],
  ],
  [
    'a reference or null',
    { anyOf: [{ $ref: '#/components/schemas/Quote' }, { type: 'null' }], description: 'Quoted.' },
    ['name object or null', 'Quoted.', '> Fields', 'id string required'],
  ],
  [
    'items of several types',
    {
      type: 'array',
      items: { anyOf: [{ type: 'string' }, { $ref: '#/components/schemas/Quote' }] },
    },
    ['name array of strings or objects', '> Fields of an item', 'id string required'],
  ],
  [
    'values by name',
    { type: 'object', additionalProperties: { $ref: '#/components/schemas/Quote' } },
    ['name object', '> Fields of a value', 'id string required'],
  ],
])('shows %s', (_what, property, lines) => {
  expect(field(property)).toEqual(lines);
});

test('marks fields that an answer may not have', () => {
  const properties = { id: { type: 'string' }, text: { type: 'string' } };
  const schema = { type: 'object', properties, required: ['id'] };
  expect(linesOf(schema, 'answer')).toEqual(['id string', 'text string may be absent']);
});

test('names the alternatives of a required field', () => {
  const present = (name: string) => ({ properties: { [name]: {} }, required: [name] });
  const properties = { id: { type: 'string' }, link: { type: 'string' } };
  const of = (rule: Json): string[] => linesOf({ type: 'object', properties, if: rule });
  expect(of({ anyOf: [present('id'), present('link')] })[0]).toBe(
    'At least one of id, link is required.',
  );
  expect(of({ allOf: [{ oneOf: [present('id'), present('link')] }] })[0]).toBe(
    'Exactly one of id, link is required.',
  );
});

test('descriptions and patterns are escaped', () => {
  const markup = schemaFields(
    document,
    { type: 'object', properties: { a: { type: 'string', description: '<b>', pattern: '<i>' } } },
    'request',
  ).markup;
  expect(markup).not.toMatch(/<[bi]>/);
});
