import { compile, type Schema } from './schema';

const field = (schema: Schema) => compile({ properties: { field: schema } }, 'body');

test.each<[string, Schema, unknown]>([
  ['field must be a string', { type: 'string' }, 7],
  ['field must be a whole number', { type: 'integer' }, 1.5],
  ['field must be true or false', { type: 'boolean' }, 'yes'],
  ['field must be an array or null', { type: ['array', 'null'] }, 'x'],
  ['field must have at most 3 characters', { type: 'string', maxLength: 3 }, 'four'],
  ['field must be at least 1', { type: 'integer', minimum: 1 }, 0],
  ['field must be at most 9', { type: 'integer', maximum: 9 }, 10],
  ['field must have at most 1 items', { type: 'array', maxItems: 1 }, [1, 2]],
  ['field must be one of SMS, VOICE', { type: 'string', enum: ['SMS', 'VOICE'] }, 'FAX'],
])('rejects with the message "%s"', (message, schema, value) => {
  expect(() => field(schema)({ field: value })).toThrow(message);
});

test('rejects a query parameter that is sent twice', () => {
  const check = compile({ properties: { limit: { type: 'integer' } } }, 'query');
  expect(() => check({ limit: ['1', '2'] })).toThrow('limit must be sent only once');
});
