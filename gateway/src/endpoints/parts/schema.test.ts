import type { ApiError } from '@bmg/common/errors';
import { compile, FAULTS_MAX, type Schema } from './schema';

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

test('rejects an empty query parameter', () => {
  const check = compile({ properties: { status: { type: 'string' } } }, 'query');
  expect(() => check({ status: '' })).toThrow('status must not be empty');
});

describe('a body with many faults', () => {
  const users: Schema = { type: 'array', maxItems: 1_000, items: { type: 'string' } };
  const fault = (schema: Schema, value: unknown): ApiError => {
    try {
      field(schema)({ field: value });
    } catch (error) {
      return error as ApiError;
    }
    throw new Error('nothing was refused');
  };

  test('is refused for the length of a list before its items are checked', () => {
    const { message, details } = fault(users, Array(500_000).fill(1));
    expect(message).toBe('field must have at most 1000 items');
    expect(details).toEqual({ field: 'field' });
    const nested = {
      type: 'object',
      properties: { of: { type: 'array', items: { type: 'object', properties: { users } } } },
    };
    expect(fault(nested, { of: [{}, { users: Array(1_001).fill(1) }] }).details).toEqual({
      field: 'field.of[1].users',
    });
  });

  test('names the first twenty', () => {
    const { details } = fault(users, Array(1_000).fill(1));
    const { also } = details as { also: string[] };
    expect(also).toHaveLength(FAULTS_MAX - 1);
    expect(also[18]).toBe('field[19]');
    const item = { type: 'object', required: ['name'], properties: { name: {} } };
    const { fields } = fault({ type: 'array', items: item }, Array(100).fill({})).details as {
      fields: string[];
    };
    expect(fields).toHaveLength(FAULTS_MAX);
  });
});

describe('missing fields', () => {
  const check = compile(
    {
      properties: { to: {}, recipient: {}, text: {}, note: {} },
      required: ['text'],
      requiredOneOf: ['to', 'recipient'],
      requiredOneOfMessage: 'either to or recipient is required',
    },
    'body',
  );

  test.each([
    [{}, 'either to or recipient is required; missing required fields: text'],
    [{ text: 'x' }, 'either to or recipient is required'],
    [{ to: '1' }, 'missing required fields: text'],
    [{ to: '1', txt: 'x' }, 'missing required fields: text: did you mean text by txt?'],
    [{ to: '1', note: 'x' }, 'missing required fields: text'],
  ])('of %j', (body, message) => {
    let said = '';
    try {
      check(body);
    } catch (error) {
      said = (error as ApiError).message;
    }
    expect(said).toBe(message);
  });

  test('inside objects and lists, beside the field that was probably meant', () => {
    const type = 'object';
    const name = { type, properties: { first_name: {} }, required: ['first_name'] };
    const contact = { type, properties: { name } };
    const nested = compile({ properties: { contacts: { type: 'array', items: contact } } }, 'body');
    expect(() => nested({ contacts: [{}, { name: { firstName: 'A' } }] })).toThrow(
      'missing required fields: contacts[1].name.first_name: ' +
        'did you mean contacts[1].name.first_name by contacts[1].name.firstName?',
    );
  });
});
