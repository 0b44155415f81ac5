// Bad input: the error has the right code and names the field, and nothing is sent.
import { connect } from 'node:net';
import { ONE, joinMesh, type Mesh, type TestPartner } from '../harness/shared-mesh';

let mesh: Mesh;
let partner: TestPartner;

beforeAll(async () => {
  mesh = await joinMesh();
  partner = await mesh.createPartner({ rate_limit_per_sec: 10_000 });
  await partner.register(ONE);
});
afterAll(() => mesh.stop());

const scope = { 'x-waba-id': ONE.waba_id };
const send = (body: unknown, headers: Record<string, string> = {}) =>
  partner.call('POST', '/messages/send', body, { ...scope, ...headers });

async function expectNothingSent(work: () => Promise<void>): Promise<void> {
  const before = await mesh.emulator.summary();
  await work();
  expect((await mesh.emulator.summary()).total).toBe(before.total);
}

describe('a body', () => {
  test.each([
    ['not JSON', '{"to":', 'INVALID_PAYLOAD'],
    ['an array', '[]', 'INVALID_PAYLOAD'],
    ['a string', '"hello"', 'INVALID_PAYLOAD'],
    ['null', 'null', 'INVALID_PAYLOAD'],
    [
      'an object with __proto__',
      '{"to":"15550100777","text":"x","__proto__":{"admin":true}}',
      'INVALID_PAYLOAD',
    ],
    [
      'an object with constructor.prototype',
      '{"to":"15550100777","text":"x","constructor":{"prototype":{}}}',
      'INVALID_PAYLOAD',
    ],
    [
      'nested 5000 levels deep',
      `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
      'INVALID_PAYLOAD',
    ],
    [
      'over 1 MiB',
      JSON.stringify({ to: '15550100777', text: 'x'.repeat(1_100_000) }),
      'INVALID_PAYLOAD',
    ],
  ])('that is %s is %s', async (_name, body, code) => {
    await expectNothingSent(async () => {
      const answer = await send(body);
      expect([answer.status, answer.body.error.code]).toEqual([400, code]);
      expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'));
    });
  });

  test.each(['text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded'])(
    'of type %s is UNSUPPORTED_CONTENT_TYPE',
    async (type) => {
      const { status, body } = await send('{"to":"15550100777","text":"x"}', {
        'content-type': type,
      });
      expect([status, body.error.code]).toEqual([400, 'UNSUPPORTED_CONTENT_TYPE']);
    },
  );

  test('that is not UTF-8 is INVALID_PAYLOAD', async () => {
    const answer = await fetch(`${mesh.base_url}/messages/send`, {
      method: 'POST',
      headers: {
        'x-partner-key': partner.partner_key,
        'content-type': 'application/json',
        ...scope,
      },
      body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: { code: string } }).error.code).toBe(
      'INVALID_PAYLOAD',
    );
  });
});

describe('fields', () => {
  test.each([15550100777, '../15550100777'])('refuses to address a message to %p', async (to) => {
    await expectNothingSent(async () => {
      const { status, body } = await send({ to, text: 'x' });
      expect([status, body.error.code, body.error.details.field]).toEqual([
        400,
        'INVALID_FIELD',
        'to',
      ]);
    });
  });

  test('lists all missing fields at once', async () => {
    const { body } = await partner.call('POST', '/clients/register', {});
    expect(body.error.details.fields.sort()).toEqual([
      'access_token',
      'phone_number_id',
      'waba_id',
    ]);
  });

  test('lowers a limit above the maximum and reports the limit it used', async () => {
    const { status, body } = await partner.call('GET', '/clients?limit=100000');
    expect([status, body.limit]).toEqual([200, 500]);
  });
});

describe('an unknown path or method', () => {
  test.each([
    ['GET', '/nothing'],
    ['PATCH', '/clients'],
    ['OPTIONS', '/messages/send'],
    ['GET', '/messages/send'],
    ['GET', '/../../etc/passwd'],
  ])('%s %s is NOT_FOUND', async (method, path) => {
    const { status, body } = await partner.call(method, path);
    expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
  });
});

test.each(['%E0%A4%A', '..%2F..%2Fetc', '%00', 'x'.repeat(500)])(
  'answers WABA_NOT_REGISTERED for the malformed account ID %s in a path',
  async (waba_id) => {
    const { status, body } = await partner.call('DELETE', `/clients/${waba_id}`);
    expect([status, body.error.code]).toEqual([404, 'WABA_NOT_REGISTERED']);
  },
);

test('answers malformed HTTP with the standard error body and keeps serving', async () => {
  const { port } = new URL(mesh.base_url);
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'));
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
  expect(answer).toContain('HTTP/1.1 400');
  expect(answer).toContain('"code":"INVALID_PAYLOAD"');
  expect(answer).toContain('X-Service-Api-Version: 2.9.2');
  expect((await partner.call('GET', '/clients')).status).toBe(200);
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

  test('with the field or path that was probably meant', async () => {
    const { message } = (await send({ to: '15550100777', txt: 'x' })).body.error;
    expect(message).toContain('did you mean text by txt?');
    const { body } = await partner.call('POST', '/messages/snd', {});
    expect(body.error.message).toContain('did you mean POST /v1/messages/send?');
  });

  test('with the reason for a refused content type or encoding', async () => {
    const of = async (headers: Record<string, string>) =>
      (await send('{"to":"15550100777","text":"x"}', headers)).body.error.message as string;
    expect(await of({ 'content-type': 'text/plain' })).toContain('not as text/plain');
    expect(await of({ 'content-encoding': 'gzip' })).toContain('content-encoding');
  });

  test('and the root leads to the documentation', async () => {
    const answer = await fetch(`${origin()}/`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/docs']);
  });
});
