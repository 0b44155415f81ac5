// The edge on the wire: keys of inactive partners, headers of every response, and requests that are
// refused before anything is sent.
import { ONE } from '../harness/shared-mesh';
import { useMesh, usePartner } from './use-mesh';

const mesh = useMesh();
const partner = usePartner(mesh, [ONE], { rate_limit_per_sec: 10_000 });
const get = (path: string, headers: Record<string, string> = {}) =>
  partner.call('GET', path, undefined, headers);

test.each([
  ['suspended', 403, 'PARTNER_SUSPENDED'],
  ['subscription_cancelled', 402, 'SUBSCRIPTION_CANCELLED'],
  ['trial_expired', 402, 'TRIAL_EXPIRED'],
])(
  'the key of a partner in status %s is refused with %i %s, and works again once the partner is active',
  async (status, http, code) => {
    const { partner_id, call } = await mesh.createPartner();
    const read = async () => {
      const { status, body } = await call('GET', '/clients');
      return [status, body.error?.code];
    };
    expect(await read()).toEqual([200, undefined]);
    await mesh.operator.updatePartner({ partner_id, status }, mesh.call());
    expect(await read()).toEqual([http, code]);
    await mesh.operator.updatePartner({ partner_id, status: 'active' }, mesh.call());
    expect(await read()).toEqual([200, undefined]);
  },
);

test('every response carries notices, a request ID and a trace', async () => {
  for (const path of ['/health', '/clients', '/nothing-here']) {
    const { headers } = await get(path);
    expect(headers.get('x-service-api-version')).toBe('2.9.2');
    expect(headers.get('x-service-release')).toMatch(/^\d+\.\d+\.\d+$/);
    expect(headers.get('x-service-changelog')).toMatch(/\/changelog$/);
    expect(headers.get('x-service-notice-level')).toBe('action_required');
    expect(headers.get('x-service-notice')?.split(',')).toHaveLength(2);
    expect(headers.get('x-request-id')).toMatch(/^[\w.:-]{1,128}$/);
    expect(headers.get('traceparent')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
  }
});

test('a well-formed request ID and trace of the caller are kept, and a malformed ID is replaced', async () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const { headers } = await get('/clients', {
    'x-request-id': 'order-4711',
    traceparent: `00-${trace}-00f067aa0ba902b7-01`,
  });
  expect(headers.get('x-request-id')).toBe('order-4711');
  expect(headers.get('traceparent')).toContain(trace);
  const malformed = await get('/nothing-here', { 'x-request-id': '<script>' });
  expect(malformed.headers.get('x-request-id')).not.toBe('<script>');
  expect(malformed.body.error.request_id).toBe(malformed.headers.get('x-request-id'));
});

const TEXT = '{"to":"15550100777","text":"x"}';
test.each([
  ['is not JSON', '{"to":', {}, 'INVALID_PAYLOAD'],
  ['has __proto__', `${TEXT.slice(0, -1)},"__proto__":{"admin":true}}`, {}, 'INVALID_PAYLOAD'],
  ['is over 1 MiB', TEXT.replace('x', 'x'.repeat(1_100_000)), {}, 'INVALID_PAYLOAD'],
  ['is a text', TEXT, { 'content-type': 'text/plain' }, 'UNSUPPORTED_CONTENT_TYPE'],
  [
    'is a form',
    TEXT,
    { 'content-type': 'multipart/form-data; boundary=x' },
    'UNSUPPORTED_CONTENT_TYPE',
  ],
])('a body that %s is refused, and nothing is sent', async (_what, text, headers, code) => {
  const { total } = await mesh.emulator.summary();
  const number = { 'x-waba-id': ONE.waba_id, ...headers };
  const { status, body } = await partner.call('POST', '/messages/send', text, number);
  expect([status, body.error.code]).toEqual([400, code]);
  expect((await mesh.emulator.summary()).total).toBe(total);
});

test('a limit above the maximum is lowered, and the answer has the limit that was used', async () => {
  expect((await get('/clients?limit=100000')).body.limit).toBe(500);
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

test('an error names its place in the documentation, to which the root leads', async () => {
  const { body } = await partner.call('POST', '/keys', {});
  const { doc_url } = body.error;
  expect(doc_url).toBe(`${mesh.env['PUBLIC_URL']}/docs#MISSING_FIELDS`);
  const { origin } = new URL(mesh.base_url);
  const root = await fetch(`${origin}/`, { redirect: 'manual' });
  expect([root.status, root.headers.get('location')]).toEqual([302, '/docs']);
  const page = await (await fetch(`${origin}/docs`)).text();
  expect(page).toContain('id="MISSING_FIELDS"');
});
