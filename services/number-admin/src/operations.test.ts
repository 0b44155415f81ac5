// Every RPC: the request sent upstream, the reply, and an upstream refusal.
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { useRig, type Method } from '../test/build';
import { account } from '../test/cases/account';
import { numberSetup } from '../test/cases/number-setup';
import { phoneGroups } from '../test/cases/phone-groups';
import { upstreamError } from '../test/upstream-stub';

const cases = [...account, ...numberSetup, ...phoneGroups];

const rig = useRig();

test('the cases cover every RPC', () => {
  const methods = new Set(cases.map(({ method }) => method));
  expect([...methods].sort()).toEqual(Object.keys(NumberAdminDefinition.methods).sort());
});

describe.each(cases)('$method', ({ method, request, sent, ...more }) => {
  const { answers = [{ success: true }], reply = {} } = more;

  test('sends the upstream request and reads the response', async () => {
    rig.upstream.answers(...structuredClone(answers));
    await expect(rig.run(method, request)).resolves.toEqual(reply);
    expect(rig.upstream.asked).toEqual(sent.map((part) => expect.objectContaining(part)));
    expect(new Set(rig.upstream.tokens)).toEqual(new Set(['Bearer token-1']));
  });

  test('passes an upstream refusal on', async () => {
    const details = { messaging_product: 'whatsapp', details: 'because' };
    rig.upstream.answers(upstreamError(131_009, { error_subcode: 77, error_data: details }));
    await expect(rig.run(method, request)).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: expect.stringContaining('(#131009) refused'),
      upstream_code: 131_009,
      upstream_subcode: 77,
      details: 'because',
      retryable: false,
    });
  });
});

test('a write that the upstream answers without success is an upstream error', async () => {
  rig.upstream.answers({ success: false });
  await expect(rig.run('deleteQrCode', { code: 'AB' })).rejects.toMatchObject({
    code: 'UPSTREAM_ERROR',
  });
});

test.each<[Method, object]>([
  ['listQrCodes', {}],
  ['listBlocked', {}],
  ['listGroups', {}],
  ['createQrCode', { prefilled_message: 'Hi' }],
  ['createGroup', { subject: 'Team' }],
  ['blockUsers', { users: ['15550100777'] }],
])('%s: a 200 without a usable body is an upstream error', async (method, request) => {
  rig.upstream.answers({ unexpected: true });
  await expect(rig.run(method, request)).rejects.toMatchObject({
    code: 'UPSTREAM_ERROR',
    upstream_code: undefined,
    retryable: false,
  });
});

test('a call without a target is refused', async () => {
  await expect(rig.run('getWaba', { target: undefined })).rejects.toMatchObject({
    code: 'MISSING_WABA',
  });
});
