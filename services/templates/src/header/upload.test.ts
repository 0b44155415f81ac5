import {
  createFileFetcher,
  createTransfer,
  type FileFetcher,
  type Transfer,
} from '@bmg/common/files';
import { startEmulator } from '../../../../test/emulator';
import { uploadHeader, headerRule } from './upload';
import { aCall } from '../../../../test/testkit/call';
import { useLocalServers } from '../../../common/test/local-servers';

const MB = 1_048_576;
const TARGET = {
  partner_id: 'par_1',
  waba_id: '900000000000001',
  phone_number_id: '800000000000001',
  directory_version: '',
};

const { http } = useLocalServers();
/** A source of a file with this content. */
const file = (content: string) => http((_request, response) => response.end(content));
const clients: Array<FileFetcher | Transfer> = [];
afterEach(() => Promise.all(clients.splice(0).map((one) => one.stop())));

function uploading(upstream_url: string, app_id: string | null = 'app-local') {
  const files = createFileFetcher({ ALLOW_PRIVATE_URLS: true, SPOOL_LIMIT_MB: 200 });
  const transfer = createTransfer({
    UPSTREAM_URL: upstream_url,
    UPSTREAM_API_VERSION: 'v26.0',
    UPSTREAM_TIMEOUT_MS: 60_000,
  });
  clients.push(files, transfer);
  const credentials = { of: async () => ({ access_token: 'EMULATED-TOKEN-1' }) as never };
  return (url: string, mime_type: string) =>
    uploadHeader(
      { files, transfer, credentials, app_id: app_id ?? undefined },
      { target: TARGET, url, mime_type },
      aCall(),
    );
}

test('uploads a sample and answers its handle', async () => {
  const emulator = await startEmulator({ port: 0 });
  const upload = uploading(emulator.url);
  const source = await http((_request, response) => {
    // No length is announced, and yet the session must know it.
    response.write(Buffer.alloc(3 * MB));
    response.end(Buffer.alloc(MB, 1));
  });
  const { header_handle } = await upload(`${source}/a/head%20er.png`, 'image/png');
  expect(header_handle).toMatch(/^4::/);
  const [opened, sent] = await emulator.requests({ method: 'POST' });
  const session = [opened, sent].find((request) => request?.path.endsWith('/uploads'));
  expect(session).toMatchObject({
    path: '/v26.0/app-local/uploads',
    query: { file_name: 'head er.png', file_length: String(4 * MB), file_type: 'image/png' },
  });
  await emulator.close();
});

test('uses the upload session unescaped, with the scheme OAuth', async () => {
  const seen: Array<[string | undefined, string | undefined, unknown]> = [];
  const upstream = await http((request, response) => {
    request.resume();
    seen.push([request.url, request.headers.authorization, request.headers['file_offset']]);
    const opened = request.url?.includes('/uploads');
    response.end(opened ? '{"id":"upload:MTph+/=?sig=ARa%2F"}' : '{"h":"4::a\\n5::b"}');
  });
  const source = await file('%PDF');
  const { header_handle } = await uploading(upstream, '700')(`${source}/a.pdf`, 'application/pdf');
  expect(header_handle).toBe('4::a\n5::b');
  const scheme = 'OAuth EMULATED-TOKEN-1';
  expect(seen).toEqual([
    [
      '/v26.0/700/uploads?file_name=a.pdf&file_length=4&file_type=application%2Fpdf',
      scheme,
      undefined,
    ],
    ['/v26.0/upload:MTph+/=?sig=ARa%2F', scheme, '0'],
  ]);
});

test.each(['{"id":"upload:../../oauth"}', '{"id":"upload:a b"}', '{"id":"other:a"}', '{}'])(
  'a session %s is not used',
  async (answer) => {
    let requests = 0;
    const upstream = await http((request, response) => {
      requests += 1;
      request.resume();
      response.end(answer);
    });
    const source = await file('x');
    await expect(uploading(upstream)(`${source}/a.png`, 'image/png')).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
    });
    expect(requests).toBe(1);
  },
);

test('fetches nothing for an unsupported type or without an app', async () => {
  let asked = 0;
  const source = await http((_request, response) => {
    asked += 1;
    response.end('x');
  });
  await expect(uploading(source)(`${source}/a.webp`, 'image/webp')).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    details: { field: 'mime_type' },
  });
  await expect(uploading(source, null)(`${source}/a.png`, 'image/png')).rejects.toMatchObject({
    code: 'PLATFORM_NOT_CONFIGURED',
    http: 503,
  });
  expect(asked).toBe(0);
});

test('rejects a sample above its size limit', async () => {
  const source = await http((_request, response) => {
    response.on('error', () => undefined);
    response.writeHead(200, { 'content-length': String(5 * MB + 1) }).flushHeaders();
  });
  await expect(uploading(source)(`${source}/a.png`, 'image/png')).rejects.toMatchObject({
    code: 'MEDIA_TOO_LARGE',
    details: { size_bytes: 5 * MB + 1, limit_bytes: 5 * MB },
  });
});

test.each([
  ['image/jpeg', 5 * MB],
  ['image/jpg', 5 * MB],
  ['IMAGE/PNG', 5 * MB],
  ['video/mp4; codecs=avc1', 16 * MB],
  ['application/pdf', 100 * MB],
])('%s has a limit of %i bytes', (mime_type, limit_bytes) => {
  const essence = mime_type.split(';')[0]?.toLowerCase();
  expect(headerRule(mime_type)).toEqual({ mime_type: essence, limit_bytes });
});

test.each(['image/webp', 'audio/ogg', 'text/plain', '', 'image/png\r\na: b'])(
  '%j is not supported',
  (mime_type) => {
    expect(() => headerRule(mime_type)).toThrow(
      expect.objectContaining({
        code: 'INVALID_FIELD',
        details: expect.objectContaining({ field: 'mime_type' }),
      }),
    );
  },
);
