// Requests that operations refuse before anything is sent, and the failures of groups.
import { useRig, type Method } from '../../test/build';

const rig = useRig();

const AUTOMATE = 'updateConversationalAutomation';
const AUTOMATION = ['enable_welcome_message', 'prompts', 'commands'];
const PROFILE = ['about', 'address', 'email', 'websites'];
const commands = { items: [{ command_name: 'help', command_description: ' ' }] };

type Refused = [string, Method, object, { field: string } | { fields: string[] }];

test.each<Refused>([
  ['automation with nothing to change', AUTOMATE, {}, { fields: AUTOMATION }],
  ['a fifth ice breaker', AUTOMATE, { prompts: { items: [...'abcde'] } }, { field: 'prompts' }],
  [
    'a command without a description',
    AUTOMATE,
    { commands },
    { fields: ['commands[0].command_description'] },
  ],
  [
    'commerce with nothing to change',
    'updateCommerceSettings',
    {},
    { fields: ['is_catalog_visible', 'is_cart_enabled'] },
  ],
  [
    'a profile with only unknown keys',
    'updateProfile',
    { profile: { color: 'red' } },
    { fields: PROFILE },
  ],
  ['a blank subject', 'createGroup', { subject: ' ' }, { fields: ['subject'] }],
  [
    'a subject of 129 characters',
    'createGroup',
    { subject: 'x'.repeat(129) },
    { field: 'subject' },
  ],
  [
    'a ninth participant',
    'removeGroupParticipants',
    { group_id: 'g', participants: [...'123456789'] },
    { field: 'participants' },
  ],
  [
    'a removal without participants',
    'removeGroupParticipants',
    { group_id: 'g' },
    { fields: ['participants'] },
  ],
  [
    'a blank participant',
    'removeGroupParticipants',
    { group_id: 'g', participants: ['1', ''] },
    { field: 'participants[1]' },
  ],
  ...(['blockUsers', 'unblockUsers'] as const).flatMap((method): Refused[] => [
    ['an empty list', method, { users: [] }, { fields: ['users'] }],
    ['too many users', method, { users: Array(1_001).fill('15550100777') }, { field: 'users' }],
    ['a blank user', method, { users: ['15550100777', ' '] }, { field: 'users[1]' }],
    ['a parent BSUID', method, { users: [' US.ENT.9Pt3Lw66Ha10'] }, { field: 'users[0]' }],
  ]),
  ['a call without an action', 'placeCall', { call: { to: '1' } }, { fields: ['action'] }],
  [
    'a call without a recipient',
    'placeCall',
    { call: { action: 'connect', to: ' ' } },
    { fields: ['to'] },
  ],
  ['the end of no call', 'placeCall', { call: { action: 'terminate' } }, { fields: ['call_id'] }],
  [
    'an empty body',
    'updateSettings',
    { settings: {} },
    { fields: ['calling', 'storage_configuration'] },
  ],
  [
    'too many groups',
    'updateSettings',
    { settings: Object.fromEntries([...'abcdefghijk'].map((name) => [name, {}])) },
    { field: 'body' },
  ],
  ...['', '12345', '1234567', '12345a', '１２３４５６', ' 123456'].flatMap((pin): Refused[] => [
    [`the PIN "${pin}"`, 'setTwoStepPin', { pin }, { field: 'pin' }],
    [`the PIN "${pin}"`, 'registerPhone', { pin }, { field: 'pin' }],
  ]),
  ['a QR code without its code', 'deleteQrCode', {}, { fields: ['code'] }],
  ['a group without its id', 'deleteGroup', {}, { fields: ['group_id'] }],
])('refuses %s before sending anything: %s', async (_what, method, request, details) => {
  const code = 'fields' in details ? 'MISSING_FIELDS' : 'INVALID_FIELD';
  rig.upstream.answers();
  await expect(rig.run(method, request)).rejects.toMatchObject({ code, details });
  expect(rig.upstream.asked).toEqual([]);
});

test('measures a subject in characters', async () => {
  rig.upstream.answers({ request_id: 'rq' });
  await expect(rig.run('createGroup', { subject: '😀'.repeat(128) })).resolves.toBeDefined();
});

test('a group creation without an answer has an unknown outcome', async () => {
  rig.upstream.answers({ status: 503, body: 'away' });
  await expect(rig.run('createGroup', { subject: 'Team' })).rejects.toMatchObject({
    code: 'UPSTREAM_ERROR',
    retryable: false,
    details: { outcome: 'unknown' },
  });
});

test('is not retryable if groups are not enabled upstream', async () => {
  const error = { message: '(#131000) Something went wrong', code: 131_000 };
  rig.upstream.answers({ status: 500, body: { error } });
  await expect(rig.run('listGroups', {})).rejects.toMatchObject({
    upstream_code: 131_000,
    message: expect.stringContaining('Something went wrong'),
    retryable: false,
  });
});

describe('a partly failed removal (HTTP 206 with an error upstream)', () => {
  const participants = ['15550100777', '15550100778'];
  const remove = (group_id: string, removal: object) => {
    rig.upstream.answers({ id: group_id }, { data: { groups: [{ id: group_id }] } }, removal);
    return rig.run('removeGroupParticipants', { group_id, participants });
  };
  const answer = (code: number) => ({
    status: 206,
    body: {
      messaging_product: 'whatsapp',
      request_id: 'rq-1',
      error: {
        message: `(#${code}) Partial success`,
        code,
        error_data: { details: '1 of 2 could not be removed' },
      },
    },
  });

  test('is a success with the upstream’s error and its other fields', async () => {
    await expect(remove('g1', answer(131_201))).resolves.toEqual({
      fields: {
        request_id: 'rq-1',
        partial_failure: {
          upstream_code: 131_201,
          message: '(#131201) Partial success',
          details: '1 of 2 could not be removed',
        },
      },
    });
    expect(rig.upstream.asked.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  });

  test('with another code is an error, whatever the status', async () => {
    await expect(remove('g2', answer(131_212))).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      upstream_code: 131_212,
      details: '1 of 2 could not be removed',
    });
  });
});
