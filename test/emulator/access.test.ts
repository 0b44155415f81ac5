import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { aText, apiOf, ONE, startWorld, TWO, type World } from './test-support';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const get = (token: string, path: string) => apiOf(world.emulator, token)('GET', path);

describe('tokens', () => {
  it('are required', async () => {
    const { status, body } = await get('', `/${ONE.waba}`);
    expect(status).toBe(401);
    expect(body.error).toMatchObject({ code: 104, type: 'OAuthException' });
    expect(body.error.fbtrace_id).toEqual(expect.any(String));
  });

  it('get 190 when unknown or expired', async () => {
    expect((await get('nonsense', `/${ONE.waba}`)).body.error.code).toBe(190);
    const { status, body } = await get('EMULATED-TOKEN-INVALID', `/${ONE.waba}`);
    expect(status).toBe(401);
    expect(body.error).toMatchObject({ code: 190, error_subcode: 463 });
  });

  it('do not see other accounts', async () => {
    for (const id of [TWO.waba, TWO.number, '999']) {
      const { status, body } = await get(ONE.token, `/${id}`);
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ code: 100, error_subcode: 33 });
    }
  });

  it('get 10 without permissions', async () => {
    const api = apiOf(world.emulator, 'EMULATED-TOKEN-NO-PERMISSION');
    const { status, body } = await api('POST', `/${ONE.number}/messages`, aText());
    expect(status).toBe(403);
    expect(body.error.code).toBe(10);
  });

  it('allow only the requests of their permissions', async () => {
    const { token } = await world.emulator.token({
      waba_ids: [ONE.waba],
      scopes: ['whatsapp_business_management'],
    });
    const api = apiOf(world.emulator, token);
    expect((await api('GET', `/${ONE.waba}`)).status).toBe(200);
    expect((await api('POST', `/${ONE.number}/messages`, aText())).body.error.code).toBe(10);
  });

  it('can be invalidated at any time', async () => {
    const { token } = await world.emulator.token({ waba_ids: [ONE.waba] });
    expect((await get(token, `/${ONE.waba}`)).status).toBe(200);
    await world.emulator.token({ token, invalid: true });
    expect((await get(token, `/${ONE.waba}`)).body.error.code).toBe(190);
  });

  it('accept an optional appsecret_proof, which must be correct', async () => {
    const { app_secret } = world.emulator.config;
    const proof = createHmac('sha256', app_secret).update(ONE.token).digest('hex');
    expect((await get(ONE.token, `/${ONE.waba}?appsecret_proof=${proof}`)).status).toBe(200);
    expect((await get(ONE.token, `/${ONE.waba}?appsecret_proof=0`)).body.error.code).toBe(100);
  });
});

describe('paths', () => {
  it('require the right version', async () => {
    const raw = async (path: string) => {
      const response = await request(world.emulator.url + path, {
        headers: { authorization: `Bearer ${ONE.token}` },
      });
      return { status: response.statusCode, body: (await response.body.json()) as never as any };
    };
    expect((await raw(`/v99.0/${ONE.waba}`)).body.error.code).toBe(2635);
    expect((await raw(`/${ONE.waba}`)).body.error.code).toBe(2500);
    expect((await raw('/nothing/here')).body.error.code).toBe(2500);
  });

  it('get 2500 when unknown', async () => {
    expect((await get(ONE.token, `/${ONE.waba}/nothing`)).body.error.code).toBe(2500);
    expect((await get(ONE.token, '/nothing')).body.error.code).toBe(2500);
  });
});

describe('bodies', () => {
  const post = (body: unknown, headers?: Record<string, string>) =>
    apiOf(world.emulator, ONE.token)('POST', `/${ONE.number}/messages`, body, headers);

  it('must be JSON objects of a known content type', async () => {
    for (const [text, type] of [
      ['{"a"', 'application/json'],
      ['[]', 'application/json'],
      ['hello', 'text/plain'],
    ] as const) {
      const { status, body } = await post(Buffer.from(text), { 'content-type': type });
      expect(status).toBe(400);
      expect(body.error.code).toBe(100);
    }
  });

  it('may be form-encoded', async () => {
    const form = new URLSearchParams({
      messaging_product: 'whatsapp',
      to: '15550100777',
      text: '{"body":"From a form"}',
    });
    const { status } = await post(Buffer.from(form.toString()), {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(status).toBe(200);
  });
});
