import { FormData, request } from 'undici';
import { apiOf, ONE, startWorld, TWO, type Any, type Api, type World } from './test-support';

const MB = 1024 * 1024;

let world: World;
let api: Api;
beforeAll(async () => {
  world = await startWorld();
  api = apiOf(world.emulator, ONE.token);
});
afterAll(() => world.close());

async function upload(file: Blob | null, more: Record<string, string> = {}): Promise<Any> {
  const form = new FormData();
  const fields = { messaging_product: 'whatsapp', type: file?.type ?? '', ...more };
  for (const [name, value] of Object.entries(fields)) if (value) form.set(name, value);
  if (file) form.set('file', file, 'rechnung ü.pdf');
  const response = await request(`${world.emulator.url}/v26.0/${ONE.number}/media`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ONE.token}` },
    body: form,
  });
  return { status: response.statusCode, body: (await response.body.json()) as Any };
}

async function download(url: string, token = ONE.token) {
  const response = await request(url, { headers: { authorization: `Bearer ${token}` } });
  await response.body.dump();
  return { status: response.statusCode };
}

const pdf = (bytes: string) => new Blob([bytes], { type: 'application/pdf' });

describe('media', () => {
  it('can be sent by ID, but not by another account', async () => {
    const { body } = await upload(pdf('x'));
    const message = {
      messaging_product: 'whatsapp',
      to: '15550100777',
      type: 'document',
      document: { id: body.id },
    };
    expect((await api('POST', `/${ONE.number}/messages`, message)).status).toBe(200);
    const two = apiOf(world.emulator, TWO.token);
    const foreign = await two('POST', `/${TWO.number}/messages`, message);
    expect(foreign.body.error.code).toBe(131009);
  });

  it('are served only to a token of the account, until the URL expires', async () => {
    const { body } = await upload(pdf('x'));
    const { url } = (await api('GET', `/${body.id}`)).body;
    expect((await download(url, 'nonsense')).status).toBe(401);
    expect((await download(url, TWO.token)).status).toBe(404);
    expect((await download(url.replace(/hash=./, 'hash=_'))).status).toBe(404);
    await world.emulator.limits({ media_url_ttl_ms: -2000 });
    const { url: old } = (await api('GET', `/${body.id}`)).body;
    expect((await download(old)).status).toBe(404);
    await world.emulator.limits({ media_url_ttl_ms: 300_000 });
  });

  it.each<[number, string, Blob | null, Record<string, string>]>([
    [100, 'no product', pdf('x'), { messaging_product: '' }],
    [100, 'no file', null, { type: 'application/pdf' }],
    [100, 'an unsupported type', new Blob(['x'], { type: 'image/gif' }), {}],
    [131053, 'an empty file', pdf(''), {}],
    [
      131053,
      'a sticker that is too large',
      new Blob(['x'.repeat(501 * 1024)], { type: 'image/webp' }),
      {},
    ],
  ])('are refused with %i for %s', async (code, _why, file, more) => {
    const { status, body } = await upload(file, more);
    expect(status).toBe(400);
    expect(body.error.code).toBe(code);
  });

  it('need a multipart body', async () => {
    const { body } = await api('POST', `/${ONE.number}/media`, { messaging_product: 'whatsapp' });
    expect(body.error.code).toBe(100);
  });
});

describe('large media', () => {
  it('are refused beyond the limit with an answer, not a broken connection', async () => {
    const { status, body } = await upload(new Blob([Buffer.alloc(17 * MB)], { type: 'video/mp4' }));
    expect(status).toBe(400);
    expect(body.error.code).toBe(131053);
  });
});

describe('resumable uploads', () => {
  const open = (query: string) => api('POST', `/app-local/uploads?${query}`);

  it('require the scheme OAuth and an allowed MIME type', async () => {
    const { body } = await open('file_length=1&file_type=image/jpeg');
    const sent = await api('POST', `/${body.id}`, Buffer.from('x'), { file_offset: '0' });
    expect(sent.status).toBe(401);
    expect(sent.body.error.code).toBe(190);
    expect((await open('file_length=1&file_type=image/gif')).body.error.code).toBe(100);
    expect((await open('file_type=image/jpeg')).body.error.code).toBe(100);
  });
});
