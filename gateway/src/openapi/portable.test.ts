import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020';
import { portable } from './portable';
import type { Json } from './schemas';

const ajv = new Ajv2020({ strict: false });
addFormats(ajv);

const FILLED = { type: 'string', pattern: '\\S' };
const VALUES: unknown[] = [
  ...[null, true, 0, 7, 2.5, '', ' ', 'a', 'b', [], ['a'], [{}], [' '], {}],
  ...[{ a: 1 }, { a: 'a' }, { b: ' ' }, { a: 'a', b: 'b' }, { a: null, b: 'b' }, { A: 'a' }],
];

test.each<[string, Json]>([
  [
    'alternatives',
    { type: 'object', allOf: [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }] },
  ],
  ['two rules', { type: 'object', allOf: [{ required: ['a'] }, { not: { required: ['b'] } }] }],
  ['a negation', { ...FILLED, not: { pattern: '^b' } }],
  ['a condition', { type: 'object', if: { required: ['a'] }, then: { required: ['b'] } }],
  ['names', { type: 'object', propertyNames: { pattern: '^[a-z]$' } }],
  ['contents', { type: 'array', items: {}, contains: FILLED }],
  ['two types', { type: ['string', 'object'], pattern: '\\S', properties: { a: FILLED } }],
  ['two types and null', { type: ['array', 'object', 'null'], items: FILLED }],
  ['any value', { type: ['string', 'number', 'boolean', 'object', 'array', 'null'], items: {} }],
  ['a list of two types', { type: 'array', items: { type: ['string', 'object'] } }],
  ['a map of two types', { type: 'object', additionalProperties: { type: ['string', 'number'] } }],
  ['null only', { type: 'null' }],
  ['null beside a type', { anyOf: [{ type: 'object' }, { type: 'null' }] }],
  ['a constant', { const: 'a' }],
  ['a flag', { const: true }],
  ['a whole number', { type: 'integer', maximum: 5 }],
  ['a number', { type: ['number', 'null'] }],
])('%s: the rewritten schema accepts the same values', (_name, schema) => {
  const [before, after] = [ajv.compile(schema), ajv.compile(portable(schema))];
  for (const value of VALUES) expect([value, after(value)]).toEqual([value, before(value)]);
  // Otherwise the comparison would prove nothing.
  expect(VALUES.some((value) => before(value))).toBe(true);
});

test('generators see neither rules nor values of several types', () => {
  const rule = { anyOf: [{ required: ['a'] }, { required: ['b'] }] };
  expect(portable({ type: 'object', properties: {}, allOf: [rule] })).toEqual({
    type: 'object',
    properties: {},
    if: rule,
    else: { not: {} },
  });
  expect(portable({ type: ['string', 'object'], description: 'Either.' })).toEqual({
    description: 'Either.',
    if: { type: ['string', 'object'] },
    else: { not: {} },
  });
  expect(portable({ type: 'null' })).toMatchObject({ type: ['string', 'null'] });
  expect(portable({ const: 'a' })).toEqual({ const: 'a', type: 'string' });
  expect(portable({ const: true })).toEqual({
    type: 'boolean',
    if: { const: true },
    else: { not: {} },
  });
});

test('whole numbers have 32 bits only if their maximum has', () => {
  expect(portable({ type: 'integer' })).toMatchObject({ format: 'int64' });
  expect(portable({ type: ['integer', 'null'], maximum: 2 ** 31 })).toMatchObject({
    format: 'int64',
  });
  expect(portable({ type: 'integer', maximum: 2 ** 31 - 1 })).toMatchObject({ format: 'int32' });
  expect(portable({ type: 'number' })).toMatchObject({ format: 'double' });
});
