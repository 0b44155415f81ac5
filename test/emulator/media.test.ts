import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FormData, request } from 'undici';
import { generatedChunks, generatedHash } from './media-store';
import { apiOf, ONE, startWorld, TWO, type Any, type Api, type World } from './test-support';

const MB = 1024 * 1024;

// Garbage is collected before each measurement, so that only referenced buffers count. Buffers that
// one collection finds are released during the next.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function liveBytes(): number {
  collect();
  collect();
  return process.memoryUsage().arrayBuffers;
}

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

async function download(
  url: string,
  token = ONE.token,
  watch = (_size: number) => undefined as void,
) {
  const response = await request(url, { headers: { authorization: `Bearer ${token}` } });
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of response.body) {
    hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
    watch(size);
  }
  return {
    status: response.statusCode,
    headers: response.headers,
    size,
    sha256: hash.digest('hex'),
  };
}

const pdf = (bytes: string) => new Blob([bytes], { type: 'application/pdf' });

describe('media', () => {
  it('can be uploaded and downloaded again', async () => {
    const { status, body } = await upload(pdf('%PDF-1.7 hello'));
    expect(status).toBe(200);
    expect(body).toEqual({ id: expect.stringMatching(/^\d{18}$/) });
    const node = await api('GET', `/${body.id}`);
    expect(node.body).toMatchObject({
      messaging_product: 'whatsapp',
      id: body.id,
      mime_type: 'application/pdf',
      file_size: '14',
      sha256: createHash('sha256').update('%PDF-1.7 hello').digest('hex'),
    });
    const bytes = await download(node.body.url);
    expect(bytes).toMatchObject({ status: 200, size: 14, sha256: node.body.sha256 });
    expect(bytes.headers['content-type']).toBe('application/pdf');
    expect((await api('DELETE', `/${body.id}`)).body).toEqual({ success: true });
    expect((await api('GET', `/${body.id}`)).body.error).toMatchObject({
      code: 100,
      error_subcode: 33,
    });
  });

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

  it('are logged by size and hash', async () => {
    await upload(pdf('logged'));
    const [entry] = (await world.emulator.requests({ path: '/media$' })).slice(-1);
    expect(entry?.body).toMatchObject({ size: 6, filename: 'rechnung ü.pdf' });
  });
});

describe('large media', () => {
  const SIZE = 30 * MB;
  /**
   * Each measurement of the memory collects garbage: slow in a process that has run all other
   * tests.
   */
  const COLLECTED_LIMIT_MS = 120_000;

  it(
    'stream through without being held in memory',
    async () => {
      const before = liveBytes();
      let peak = 0;
      let next = 0;
      const watch = (size: number): void => {
        if (size < next) return;
        next = size + 5 * MB;
        peak = Math.max(peak, liveBytes() - before);
      };
      const head = Buffer.from(
        '--B\r\nContent-Disposition: form-data; name="messaging_product"\r\n\r\nwhatsapp\r\n' +
          '--B\r\nContent-Disposition: form-data; name="file"; filename="big.pdf"\r\n' +
          'Content-Type: application/pdf\r\n\r\n',
      );
      function* body(): Generator<Buffer> {
        yield head;
        let size = 0;
        for (const chunk of generatedChunks(SIZE)) {
          yield chunk;
          watch((size += chunk.length));
        }
        yield Buffer.from('\r\n--B--\r\n');
      }
      const response = await request(`${world.emulator.url}/v26.0/${ONE.number}/media`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${ONE.token}`,
          'content-type': 'multipart/form-data; boundary=B',
        },
        body: Readable.from(body(), { objectMode: false }),
      });
      const { id } = (await response.body.json()) as { id: string };
      const node = (await api('GET', `/${id}`)).body;
      expect(node).toMatchObject({ file_size: String(SIZE), sha256: generatedHash(SIZE) });
      next = 0;
      const bytes = await download(node.url, ONE.token, watch);
      expect(bytes).toMatchObject({ size: SIZE, sha256: node.sha256 });
      // Sender, emulator and receiver share this process and hold a few chunks each.
      expect(peak).toBeLessThan(4 * MB);
    },
    COLLECTED_LIMIT_MS,
  );

  it('are refused beyond the limit with an answer, not a broken connection', async () => {
    const { status, body } = await upload(new Blob([Buffer.alloc(17 * MB)], { type: 'video/mp4' }));
    expect(status).toBe(400);
    expect(body.error.code).toBe(131053);
  });

  it('can be generated through control', async () => {
    const made = await world.emulator.media({
      phone_number_id: ONE.number,
      mime_type: 'application/pdf',
      size_bytes: SIZE,
    });
    const bytes = await download(made.url);
    expect(bytes).toMatchObject({ status: 200, size: SIZE, sha256: made.sha256 });
  });
});

describe('resumable uploads', () => {
  const open = (query: string) => api('POST', `/app-local/uploads?${query}`);
  const oauth = () => apiOf(world.emulator, ONE.token, 'OAuth');

  it('return a handle that a template header accepts', async () => {
    const { body } = await open('file_name=h.jpg&file_length=10&file_type=image/jpeg');
    expect(body.id).toMatch(/^upload:.*\?sig=/);
    const bytes = Buffer.from('0123456789');
    const sent = await oauth()('POST', `/${body.id}`, bytes, { file_offset: '0' });
    expect(sent.body.h).toMatch(/^4::/);
    const template = await api('POST', `/${ONE.waba}/message_templates`, {
      name: 'with_header',
      language: 'en_US',
      category: 'UTILITY',
      components: [
        { type: 'HEADER', format: 'IMAGE', example: { header_handle: [sent.body.h] } },
        { type: 'BODY', text: 'Hello' },
      ],
    });
    expect(template.status).toBe(200);
  });

  it('resume where they stopped', async () => {
    const { body } = await open('file_length=10&file_type=image/jpeg');
    const half = await oauth()('POST', `/${body.id}`, Buffer.from('01234'), { file_offset: '0' });
    expect(half.status).toBe(503);
    expect((await oauth()('GET', `/${body.id}`)).body.file_offset).toBe('5');
    const wrong = await oauth()('POST', `/${body.id}`, Buffer.from('x'), { file_offset: '0' });
    expect(wrong.body.error.code).toBe(100);
    const rest = await oauth()('POST', `/${body.id}`, Buffer.from('56789'), { file_offset: '5' });
    expect(rest.body.h).toEqual(expect.any(String));
  });

  it('require the scheme OAuth and an allowed MIME type', async () => {
    const { body } = await open('file_length=1&file_type=image/jpeg');
    const sent = await api('POST', `/${body.id}`, Buffer.from('x'), { file_offset: '0' });
    expect(sent.status).toBe(401);
    expect(sent.body.error.code).toBe(190);
    expect((await open('file_length=1&file_type=image/gif')).body.error.code).toBe(100);
    expect((await open('file_type=image/jpeg')).body.error.code).toBe(100);
  });
});
