// The limits and exceptions of single rows. parts/ has the tests of what all schemas do, and
// test/e2e/every-endpoint tries each keyword of each row.
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

const users = (count: number) => ({ users: Array<string>(count).fill('15550100777') });
const since = { since: '0', until: '1789600000' };

test.each<[string, string, object, object?]>([
  ['POST /conversational-automation', 'empty lists', { prompts: [], commands: [] }],
  ['GET /blocked', 'nothing', {}],
  ['GET /blocked', 'a large limit as the largest', { limit: '1000' }, { limit: 100 }],
  ['GET /blocked', 'cursors', { after: 'a', before: 'b' }],
  ['POST /blocked', '1,000 users', users(1_000)],
  ['POST /settings', 'unknown keys', { calling: { sip: { on: 1 } }, unheard_of: [1] }],
  ['PUT /profile', 'empty values and unknown keys', { address: '', websites: [], color: 'red' }],
  [
    'GET /waba/activities',
    'a large limit as the largest, and times',
    { limit: '500', ...since },
    { limit: 200, since: 0, until: 1_789_600_000 },
  ],
  ['POST /phone/register', 'nothing', {}],
  ['POST /phone/deregister', 'a confirmation', { confirm: true }],
  ['POST /calls', 'any further keys', { later: [null, { b: 1 }], action: 'connect' }],
  ['GET /groups', 'a large limit as the largest', { limit: '9999' }, { limit: 1_024 }],
  [
    'POST /groups',
    'a subject of 128 characters, to join at once',
    { subject: 'x'.repeat(128) },
    { subject: 'x'.repeat(128), join_approval_mode: 'auto_approve' },
  ],
])('%s takes %s', (name, _what, value, expected = value) => {
  expect(judge(name, value)).toEqual(expected);
});

const unconfirmed = [
  {},
  { confirm: false },
  { confirm: 'true' },
  { confirm: 1 },
  { confirm: null },
];

test.each<[string, object, string, string?]>([
  ['POST /conversational-automation', { prompts: [...'abcde'] }, 'prompts'],
  ['POST /blocked', users(1_001), 'users'],
  ['GET /phone-status', { phone_number_id: '../1' }, 'phone_number_id'],
  ['GET /waba/assigned-users', { business_id: '6/0' }, 'business_id'],
  ['PUT /profile', { websites: ['https://example.org', 'example.org'] }, 'websites[1]'],
  ['PUT /profile', { websites: ['ftp://example.org'] }, 'websites[0]'],
  ...['12345', '1234567', '12345a', '123456\n'].map((pin): [string, object, string] => [
    'POST /phone/two-step',
    { pin },
    'pin',
  ]),
  ['POST /phone/register', { pin: '' }, 'pin'],
  ['POST /groups', { subject: 'x'.repeat(129) }, 'subject'],
  ['DELETE /groups/:group_id/participants', { participants: [...'123456789'] }, 'participants'],
  ...['POST /phone/deregister', 'DELETE /groups/:group_id'].flatMap((name) =>
    unconfirmed.map((body): [string, object, string, string] => [
      name,
      body,
      'confirm',
      'CONFIRMATION_REQUIRED',
    ]),
  ),
])('%s refuses %j by its field %s', (name, value, field, code = 'INVALID_FIELD') => {
  expect(judge(name, value)).toEqual([code, field]);
});

test('the PIN is not in the error', () => {
  expect(() => taken('POST /phone/two-step', { pin: '98765' })).toThrow(
    'pin must be a string of exactly 6 digits',
  );
});
