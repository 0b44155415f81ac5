import * as schemas from './schemas';
import { compile, type Schema } from '../parts/schema';

/** The code and the fields of a fault, or the value as it was taken. */
function judge(schema: Schema, value: object, kind: 'body' | 'query' = 'body'): unknown {
  try {
    return compile(schema, kind)(structuredClone(value));
  } catch (error) {
    const { code, details } = error as { code: string; details: Record<string, unknown> };
    return [code, details['fields'] ?? details['field']];
  }
}

const missing = (...fields: string[]) => ['MISSING_FIELDS', fields];
const invalid = (field: string) => ['INVALID_FIELD', field];

describe('POST /qr-codes', () => {
  test.each<[string, object, unknown]>([
    ['needs a message', {}, missing('prefilled_message')],
    ['refuses a blank message', { prefilled_message: ' ' }, missing('prefilled_message')],
    ['refuses null', { prefilled_message: null }, missing('prefilled_message')],
    ['refuses a number', { prefilled_message: 5 }, invalid('prefilled_message')],
    [
      'refuses another image format',
      { prefilled_message: 'Hi', image_format: 'GIF' },
      invalid('image_format'),
    ],
    [
      'takes PNG by default',
      { prefilled_message: 'Hi' },
      { prefilled_message: 'Hi', image_format: 'PNG' },
    ],
  ])('%s', (_what, body, expected) => {
    expect(judge(schemas.createQrCode, body)).toEqual(expected);
  });
});

test('PUT /qr-codes/{code} requires prefilled_message', () => {
  expect(judge(schemas.updateQrCode, {})).toEqual(missing('prefilled_message'));
  expect(judge(schemas.updateQrCode, { prefilled_message: [] })).toEqual(
    missing('prefilled_message'),
  );
  expect(judge(schemas.updateQrCode, { prefilled_message: {} })).toEqual(
    invalid('prefilled_message'),
  );
});

describe('POST /conversational-automation', () => {
  test.each<[string, object, unknown]>([
    ['takes empty lists', { prompts: [], commands: [] }, { prompts: [], commands: [] }],
    ['refuses a fifth ice breaker', { prompts: [...'abcde'] }, invalid('prompts')],
    ['refuses an ice breaker that is no text', { prompts: ['a', 1] }, invalid('prompts[1]')],
    ['refuses a list that is none', { prompts: 'a' }, invalid('prompts')],
    ['refuses null', { commands: null }, invalid('commands')],
    ['refuses a command that is no object', { commands: ['help'] }, invalid('commands[0]')],
    [
      'refuses a command name that is no text',
      { commands: [{ command_name: 1, command_description: 'x' }] },
      invalid('commands[0].command_name'),
    ],
    [
      'refuses a flag that is none',
      { enable_welcome_message: 'yes' },
      invalid('enable_welcome_message'),
    ],
  ])('%s', (_what, body, expected) => {
    expect(judge(schemas.updateAutomation, body)).toEqual(expected);
  });
});

describe('GET /blocked', () => {
  test.each<[string, object, unknown]>([
    ['needs nothing', {}, {}],
    ['lowers a limit', { limit: '1000' }, { limit: 100 }],
    ['refuses a limit of 0', { limit: '0' }, invalid('limit')],
    ['refuses a negative limit', { limit: '-1' }, invalid('limit')],
    ['refuses a limit that is no whole number', { limit: '1.5' }, invalid('limit')],
    ['takes cursors', { after: 'a', before: 'b' }, { after: 'a', before: 'b' }],
    ['refuses a blank cursor', { after: '' }, ['INVALID_FIELD', 'after']],
    ['refuses a cursor given twice', { after: ['a', 'b'] }, ['INVALID_FIELD', 'after']],
  ])('%s', (_what, query, expected) => {
    expect(judge(schemas.listBlocked, query, 'query')).toEqual(expected);
  });
});

describe('POST and DELETE /blocked', () => {
  const many = (count: number) => Array<string>(count).fill('15550100777');
  test.each<[string, object, unknown]>([
    ['needs users', {}, missing('users')],
    ['refuses an empty list', { users: [] }, missing('users')],
    ['refuses a text', { users: '15550100777' }, invalid('users')],
    ['refuses a number among them', { users: ['15550100777', 15550100778] }, invalid('users[1]')],
    ['refuses the 1,001st', { users: many(1_001) }, invalid('users')],
    ['takes 1,000', { users: many(1_000) }, { users: many(1_000) }],
  ])('%s', (_what, body, expected) => {
    expect(judge(schemas.blockUsers, body)).toEqual(expected);
  });
});

test('POST /commerce-settings accepts only booleans', () => {
  expect(judge(schemas.updateCommerce, { is_cart_enabled: 'true' })).toEqual(
    invalid('is_cart_enabled'),
  );
  expect(judge(schemas.updateCommerce, { is_catalog_visible: false })).toEqual({
    is_catalog_visible: false,
  });
});

describe('POST /settings', () => {
  const unknown = { calling: { status: 'ENABLED', sip: { on: 1 } }, unheard_of: [1] };
  test.each<[string, object, unknown]>([
    ['passes unknown keys on', unknown, unknown],
    ['refuses another status', { calling: { status: 'ON' } }, invalid('calling.status')],
    ['refuses calling that is no object', { calling: 'ENABLED' }, invalid('calling')],
    [
      'refuses storage that is no object',
      { storage_configuration: [] },
      invalid('storage_configuration'),
    ],
  ])('%s', (_what, body, expected) => {
    expect(judge(schemas.updateSettings, body)).toEqual(expected);
  });
});

test('GET /phone-status accepts only an id', () => {
  expect(judge(schemas.phoneStatus, { phone_number_id: '../1' }, 'query')).toEqual(
    invalid('phone_number_id'),
  );
  expect(judge(schemas.phoneStatus, { phone_number_id: '800' }, 'query')).toEqual({
    phone_number_id: '800',
  });
});
