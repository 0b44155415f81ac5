// Requests that the smaller operation files refuse before anything is sent.
import type { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { useRig, TARGET } from '../../test/build';

type Method = keyof NumberAdminDefinition['methods'];

const rig = useRig();

const run = (method: Method, request: object): Promise<unknown> =>
  (rig.rpc[method] as (request: unknown, call: unknown) => Promise<unknown>)(
    { ...request, target: TARGET },
    rig.call(),
  );

const AUTOMATE = 'updateConversationalAutomation';
const AUTOMATION = ['enable_welcome_message', 'prompts', 'commands'];
const PROFILE = ['about', 'address', 'email', 'websites'];
const commands = { items: [{ command_name: 'help', command_description: ' ' }] };

test.each<[string, Method, object, { field: string } | { fields: string[] }]>([
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
  ['a QR code without its code', 'deleteQrCode', {}, { fields: ['code'] }],
  ['a group without its id', 'deleteGroup', {}, { fields: ['group_id'] }],
])('refuses %s before sending anything', async (_what, method, request, details) => {
  const code = 'fields' in details ? 'MISSING_FIELDS' : 'INVALID_FIELD';
  rig.upstream.answers();
  await expect(run(method, request)).rejects.toMatchObject({ code, details });
  expect(rig.upstream.asked).toEqual([]);
});

test('measures a subject in characters', async () => {
  rig.upstream.answers({ request_id: 'rq' });
  await expect(run('createGroup', { subject: '😀'.repeat(128) })).resolves.toBeDefined();
});

test('a group creation without an answer has an unknown outcome', async () => {
  rig.upstream.answers({ status: 503, body: 'away' });
  await expect(run('createGroup', { subject: 'Team' })).rejects.toMatchObject({
    code: 'UPSTREAM_ERROR',
    retryable: false,
    details: { outcome: 'unknown' },
  });
});

test('is not retryable if groups are not enabled upstream', async () => {
  const error = { message: '(#131000) Something went wrong', code: 131_000 };
  rig.upstream.answers({ status: 500, body: { error } });
  await expect(run('listGroups', {})).rejects.toMatchObject({
    upstream_code: 131_000,
    message: expect.stringContaining('Something went wrong'),
    retryable: false,
  });
});

describe('a partly failed removal (HTTP 206 with an error upstream)', () => {
  const participants = ['15550100777', '15550100778'];
  const remove = (group_id: string, removal: object) => {
    rig.upstream.answers({ id: group_id }, { data: { groups: [{ id: group_id }] } }, removal);
    return run('removeGroupParticipants', { group_id, participants });
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
