// What the schemas of single rows take and refuse; parts/ has the tests of all schemas.
import { taken } from '../../../test/contract/rows';

/** The code and the fields of a fault, or the value as it was taken. */
function judge(name: string, value: object): unknown {
  try {
    return taken(name, structuredClone(value));
  } catch (error) {
    const { code, details } = error as { code: string; details: Record<string, unknown> };
    return [code, details['fields'] ?? details['field']];
  }
}

const missing = (...fields: string[]) => ['MISSING_FIELDS', fields];
const invalid = (field: string) => ['INVALID_FIELD', field];
const UNCONFIRMED = ['CONFIRMATION_REQUIRED', 'confirm'];

type Case = [what: string, value: object, expected: unknown];
const takes = (what: string, value: object, expected = value): Case => [
  `takes ${what}`,
  value,
  expected,
];
const refuses = (what: string, value: object, fault: unknown): Case => [
  `refuses ${what}`,
  value,
  fault,
];

const CODE = { code_method: 'SMS', language: 'en_US' };
const users = (count: number) => ({ users: Array<string>(count).fill('15550100777') });
const settings = { calling: { status: 'ENABLED', sip: { on: 1 } }, unheard_of: [1] };
const call = { later: [null, { b: 1 }], action: 'connect', session: { sdp: 'no sdp at all' } };
const profile = { about: 'Plants', address: '', websites: [], color: 'red' };
const prefilled_message = 'Hi';

const ROWS: Readonly<Record<string, readonly Case[]>> = {
  'POST /qr-codes': [
    refuses('no message', {}, missing('prefilled_message')),
    refuses(
      'another image format',
      { prefilled_message, image_format: 'GIF' },
      invalid('image_format'),
    ),
    takes('PNG by default', { prefilled_message }, { prefilled_message, image_format: 'PNG' }),
  ],
  'PUT /qr-codes/:code': [refuses('nothing', {}, missing('prefilled_message'))],
  'POST /conversational-automation': [
    takes('empty lists', { prompts: [], commands: [] }),
    refuses('a fifth ice breaker', { prompts: [...'abcde'] }, invalid('prompts')),
  ],
  'GET /blocked': [
    takes('nothing', {}),
    takes('a large limit as the largest', { limit: '1000' }, { limit: 100 }),
    refuses('a limit of 0', { limit: '0' }, invalid('limit')),
    takes('cursors', { after: 'a', before: 'b' }),
  ],
  'POST /blocked': [
    refuses('nothing', {}, missing('users')),
    refuses('the 1,001st', users(1_001), invalid('users')),
    takes('1,000', users(1_000)),
  ],
  'POST /settings': [
    takes('unknown keys', settings),
    refuses('another status', { calling: { status: 'ON' } }, invalid('calling.status')),
    refuses('calling that is no object', { calling: 'ENABLED' }, invalid('calling')),
    refuses(
      'storage that is no object',
      { storage_configuration: [] },
      invalid('storage_configuration'),
    ),
  ],
  'GET /phone-status': [
    refuses('what is no ID', { phone_number_id: '../1' }, invalid('phone_number_id')),
    takes('an ID', { phone_number_id: '800' }),
  ],
  'PUT /profile': [
    refuses('a number', { about: 5 }, invalid('about')),
    refuses('null', { address: null }, invalid('address')),
    refuses('a list of one', { email: ['hi@example.org'] }, invalid('email')),
    refuses('a website that is no list', { websites: 'https://example.org' }, invalid('websites')),
    refuses(
      'a website without a scheme',
      { websites: ['https://example.org', 'example.org'] },
      invalid('websites[1]'),
    ),
    refuses('another scheme', { websites: ['ftp://example.org'] }, invalid('websites[0]')),
    takes('empty values and unknown keys', profile),
  ],
  'GET /waba/activities': [
    takes(
      'a large limit as the largest',
      { limit: '500', since: '0', until: '1789600000' },
      { limit: 200, since: 0, until: 1_789_600_000 },
    ),
    refuses('a negative time', { since: '-1' }, invalid('since')),
  ],
  'GET /waba/assigned-users': [
    takes('an ID', { business_id: '600' }),
    refuses('what is no ID', { business_id: '6/0' }, invalid('business_id')),
  ],
  'POST /phone/request-code': [
    refuses('nothing', {}, missing('code_method', 'language')),
    refuses('a code by post', { ...CODE, code_method: 'POST' }, invalid('code_method')),
  ],
  'POST /phone/two-step': [
    refuses('five digits', { pin: '12345' }, invalid('pin')),
    refuses('seven digits', { pin: '1234567' }, invalid('pin')),
    refuses('letters', { pin: '12345a' }, invalid('pin')),
    refuses('a line break', { pin: '123456\n' }, invalid('pin')),
  ],
  'POST /phone/register': [
    takes('nothing', {}),
    refuses('a blank PIN', { pin: '' }, invalid('pin')),
  ],
  'POST /phone/deregister': [
    takes('a confirmation', { confirm: true }),
    ...[{}, { confirm: false }, { confirm: 'true' }, { confirm: 1 }, { confirm: null }].map(
      (body) => refuses(JSON.stringify(body), body, UNCONFIRMED),
    ),
  ],
  'POST /calls': [
    refuses('no action', {}, missing('action')),
    refuses('another action', { action: 'hold' }, invalid('action')),
    refuses('a phone number that is no text', { action: 'connect', to: 1555 }, invalid('to')),
    refuses(
      'a session that is no object',
      { action: 'accept', session: 'v=0' },
      invalid('session'),
    ),
    refuses(
      'another kind of session',
      { action: 'accept', session: { sdp_type: 'maybe' } },
      invalid('session.sdp_type'),
    ),
    takes('any further keys', call),
  ],
  'GET /groups': [takes('a large limit as the largest', { limit: '9999' }, { limit: 1_024 })],
  'POST /groups': [
    refuses('no subject', {}, missing('subject')),
    refuses('a subject of 129 characters', { subject: 'x'.repeat(129) }, invalid('subject')),
    refuses(
      'another way to join',
      { subject: 'Team', join_approval_mode: 'never' },
      invalid('join_approval_mode'),
    ),
    takes(
      'a subject of 128 characters, to join at once',
      { subject: 'x'.repeat(128) },
      { subject: 'x'.repeat(128), join_approval_mode: 'auto_approve' },
    ),
  ],
  'DELETE /groups/:group_id': [{}, { confirm: false }, { confirm: 'yes' }].map((body) =>
    refuses(JSON.stringify(body), body, UNCONFIRMED),
  ),
  'DELETE /groups/:group_id/participants': [
    refuses('a ninth', { participants: [...'123456789'] }, invalid('participants')),
    refuses('a number', { participants: [15550100777] }, invalid('participants[0]')),
  ],
};

describe.each(Object.entries(ROWS))('%s', (name, cases) => {
  test.each(cases)('%s', (_what, value, expected) => {
    expect(judge(name, value)).toEqual(expected);
  });
});

test('the PIN is not in the error', () => {
  expect(() => taken('POST /phone/two-step', { pin: '98765' })).toThrow(
    'pin must be a string of exactly 6 digits',
  );
});
