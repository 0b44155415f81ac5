// Bad input: the error has the right code and names the field, and nothing is sent.
import { ONE } from '../harness/shared-mesh';
import { useMesh, usePartner } from './use-mesh';

const mesh = useMesh();
const partner = usePartner(mesh, [ONE], { rate_limit_per_sec: 10_000 });

const scope = { 'x-waba-id': ONE.waba_id };
const send = (body: unknown, headers: Record<string, string> = {}) =>
  partner.call('POST', '/messages/send', body, { ...scope, ...headers });

describe('a body', () => {
  test.each([
    ['not JSON', '{"to":'],
    ['an object with __proto__', '{"to":"15550100777","text":"x","__proto__":{"admin":true}}'],
    ['over 1 MiB', JSON.stringify({ to: '15550100777', text: 'x'.repeat(1_100_000) })],
  ])('that is %s is INVALID_PAYLOAD, and nothing is sent', async (_name, body) => {
    const before = await mesh.emulator.summary();
    const answer = await send(body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_PAYLOAD']);
    expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'));
    expect((await mesh.emulator.summary()).total).toBe(before.total);
  });

  test.each(['text/plain', 'multipart/form-data; boundary=x'])(
    'of type %s is UNSUPPORTED_CONTENT_TYPE',
    async (type) => {
      const text = '{"to":"15550100777","text":"x"}';
      const { status, body } = await send(text, { 'content-type': type });
      expect([status, body.error.code]).toEqual([400, 'UNSUPPORTED_CONTENT_TYPE']);
    },
  );
});

test('lowers a limit above the maximum and reports the limit it used', async () => {
  const { status, body } = await partner.call('GET', '/clients?limit=100000');
  expect([status, body.limit]).toEqual([200, 500]);
});

test.each([
  ['GET', '/nothing'],
  ['PATCH', '/clients'],
  ['OPTIONS', '/messages/send'],
  ['GET', '/../../etc/passwd'],
])('the unknown path or method %s %s is NOT_FOUND', async (method, path) => {
  const { status, body } = await partner.call(method, path);
  expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
});

describe('an error helps', () => {
  const origin = (): string => new URL(mesh.base_url).origin;

  test('with the anchor of its code in the documentation', async () => {
    const { body } = await send({});
    expect(body.error).toMatchObject({
      message: 'either to or recipient is required; missing required fields: text',
      doc_url: `${mesh.env['PUBLIC_URL']}/docs#MISSING_FIELDS`,
    });
    const page = await (await fetch(`${origin()}/docs`)).text();
    expect(page).toContain('id="MISSING_FIELDS"');
    expect(page).toContain('id="upstream-131047"');
  });

  test('and the root leads to the documentation', async () => {
    const answer = await fetch(`${origin()}/`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/docs']);
  });
});
