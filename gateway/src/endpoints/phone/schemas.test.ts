import * as schemas from './schemas';
import { compile, type Schema } from '../parts/schema';

const refused = (schema: Schema, body: object, code: string, details: object) =>
  expect(() => compile(schema, 'body')(body)).toThrow(expect.objectContaining({ code, details }));

const CODE = { code_method: 'SMS', language: 'en_US' };

test.each<[string, Schema, object, string, object]>([
  [
    'a code request of nothing',
    schemas.requestCode,
    {},
    'MISSING_FIELDS',
    { fields: ['code_method', 'language'] },
  ],
  [
    'a code by post',
    schemas.requestCode,
    { ...CODE, code_method: 'POST' },
    'INVALID_FIELD',
    { field: 'code_method' },
  ],
  [
    'a language that is no text',
    schemas.requestCode,
    { ...CODE, language: 5 },
    'INVALID_FIELD',
    { field: 'language' },
  ],
  [
    'another number that is no id',
    schemas.requestCode,
    { ...CODE, phone_number_id: 8 },
    'INVALID_FIELD',
    { field: 'phone_number_id' },
  ],
  ['a blank code', schemas.verifyCode, { code: ' ' }, 'MISSING_FIELDS', { fields: ['code'] }],
  ['a code as a number', schemas.verifyCode, { code: 123456 }, 'INVALID_FIELD', { field: 'code' }],
  ['no PIN', schemas.twoStep, {}, 'MISSING_FIELDS', { fields: ['pin'] }],
  ['a PIN as a number', schemas.twoStep, { pin: 123456 }, 'INVALID_FIELD', { field: 'pin' }],
  ['five digits', schemas.twoStep, { pin: '12345' }, 'INVALID_FIELD', { field: 'pin' }],
  ['seven digits', schemas.twoStep, { pin: '1234567' }, 'INVALID_FIELD', { field: 'pin' }],
  ['letters', schemas.twoStep, { pin: '12345a' }, 'INVALID_FIELD', { field: 'pin' }],
  ['a line break', schemas.twoStep, { pin: '123456\n' }, 'INVALID_FIELD', { field: 'pin' }],
  ['a blank optional PIN', schemas.registerPhone, { pin: '' }, 'INVALID_FIELD', { field: 'pin' }],
])('rejects %s', (_what, schema, body, code, details) => {
  refused(schema, body, code, details);
});

test('does not repeat the PIN in the error', () => {
  expect(() => compile(schemas.twoStep, 'body')({ pin: '98765' })).toThrow(
    'pin must be a string of exactly 6 digits',
  );
});

test('accepts a registration without fields', () => {
  expect(compile(schemas.registerPhone, 'body')({})).toEqual({});
});

test.each([{}, { confirm: false }, { confirm: 'true' }, { confirm: 1 }, { confirm: null }])(
  'deregistering with %j wants a confirmation',
  (body) => {
    refused(schemas.deregisterPhone, body, 'CONFIRMATION_REQUIRED', { field: 'confirm' });
  },
);

test('accepts a deregistration with confirm: true', () => {
  expect(compile(schemas.deregisterPhone, 'body')({ confirm: true })).toEqual({ confirm: true });
});
