import type { IncomingMessage } from 'node:http';
import {
  createFileFetcher,
  createTransfer,
  type FileFetcher,
  type Transfer,
} from '@bmg/common/files';
import { TARGET } from '../../test/builders';
import { uploadMedia } from './upload';
import { aCall } from '../../../../test/testkit/call';
import { useLocalServers } from '../../../common/test/local-servers';

const MB = 1_048_576;

const { http } = useLocalServers();
let files: FileFetcher;
let transfer: Transfer;
afterEach(() => Promise.all([files.stop(), transfer.stop()]));
/** The URL of a folder with this file under any name. */
const serving = (content: string | Buffer) => http((_request, response) => response.end(content));

interface Upload {
  path: string | undefined;
  headers: IncomingMessage['headers'];
  size_bytes: number;
  /** The beginning and the end, where the parts' headers are. */
  text: string;
  complete: boolean;
}

/** An upstream that records the size and the ends of a request, without keeping it. */
async function upstream(answer = '{"id":"100000000000001"}', status = 200): Promise<Upload[]> {
  const uploads: Upload[] = [];
  const origin = await http(async (request, response) => {
    const upload: Upload = {
      path: request.url,
      headers: request.headers,
      size_bytes: 0,
      text: '',
      complete: false,
    };
    uploads.push(upload);
    for await (const chunk of request as AsyncIterable<Buffer>) {
      upload.size_bytes += chunk.length;
      if (upload.text.length < 4_096) upload.text += chunk.toString('latin1');
    }
    upload.complete = request.complete;
    response.writeHead(status).end(answer);
  });
  files = createFileFetcher(
    { ALLOW_PRIVATE_URLS: true, SPOOL_LIMIT_MB: 200 },
    { timeout_ms: 60_000 },
  );
  transfer = createTransfer({
    UPSTREAM_URL: origin,
    UPSTREAM_API_VERSION: 'v26.0',
    UPSTREAM_TIMEOUT_MS: 60_000,
  });
  return uploads;
}

const upload = (url: string, mime_type: string) =>
  uploadMedia(
    {
      files,
      transfer,
      credentials: { of: async () => ({ access_token: 'token-1' }) as never },
    },
    { target: TARGET, url, mime_type },
    aCall(),
  );

test('uploads a file byte for byte, with the name in its URL and the given type', async () => {
  const uploads = await upstream();
  const content = Buffer.from('%PDF-1.7 content');
  const source = await serving(content);
  await expect(upload(`${source}/a/price%20list.pdf?sig=1`, 'application/pdf')).resolves.toEqual({
    media_id: '100000000000001',
  });
  const [sent] = uploads;
  expect(sent).toMatchObject({
    path: '/v26.0/800000000000001/media',
    complete: true,
    headers: { authorization: 'Bearer token-1', 'content-length': String(sent?.size_bytes) },
  });
  expect(sent?.text).toContain('name="messaging_product"\r\n\r\nwhatsapp\r\n');
  expect(sent?.text).toContain('name="type"\r\n\r\napplication/pdf\r\n');
  expect(sent?.text).toContain(
    'name="file"; filename="price list.pdf"\r\ncontent-type: application/pdf\r\n',
  );
  expect(sent?.text).toContain(`\r\n\r\n${content.toString()}\r\n--`);
});

test('rejects an unsupported type before fetching', async () => {
  await upstream();
  await expect(upload('http://127.0.0.1:9/a.gif', 'image/gif')).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    details: { field: 'mime_type' },
  });
});

test.each([
  [
    'an error page under the name of a picture',
    '<!doctype html><p>Log in',
    {
      code: 'INVALID_FIELD',
      message: 'url leads to a file that is HTML, not image/png',
      details: { field: 'url', reason: 'contents' },
    },
  ],
  [
    'a file that turns out too large',
    Buffer.alloc(6 * MB),
    { code: 'MEDIA_TOO_LARGE', details: { limit_bytes: 5 * MB } },
  ],
])('refuses %s, without a request to the upstream', async (_name, content, error) => {
  const uploads = await upstream();
  const source = await http((_request, response) => {
    response.on('error', () => undefined);
    // It names no length: with one it would be refused before a byte has come.
    response.write(content);
    response.end();
  });
  await expect(upload(`${source}/a.png`, 'image/png')).rejects.toMatchObject(error);
  expect(uploads).toHaveLength(0);
});

describe('a sticker', () => {
  const sticker = async (size: number, animated: boolean): Promise<string> => {
    const content = Buffer.alloc(size);
    content.write('RIFF', 0);
    content.write('WEBPVP8X', 8);
    content[20] = animated ? 0x12 : 0x10;
    return `${await serving(content)}/s.webp`;
  };

  test.each([
    [102_400, false],
    [512_000, true],
  ])('may have %i bytes, animated: %s', async (limit_bytes, animated) => {
    const uploads = await upstream();
    const { media_id } = await upload(await sticker(limit_bytes, animated), 'image/webp');
    expect(media_id).toBeDefined();
    const size_bytes = limit_bytes + 1;
    uploads.length = 0;
    await expect(upload(await sticker(size_bytes, animated), 'image/webp')).rejects.toMatchObject({
      code: 'MEDIA_TOO_LARGE',
      details: { size_bytes, limit_bytes },
    });
    expect(uploads).toHaveLength(0);
  });
});

describe('the upstream’s answer', () => {
  const answered = async (answer: string, status?: number) => {
    await upstream(answer, status);
    return upload(`${await serving('x')}/a.png`, 'image/png');
  };

  test('is passed on if it is an error', async () => {
    const error = { code: 131053, message: 'bad', error_data: { details: 'why' } };
    await expect(answered(JSON.stringify({ error }), 400)).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      upstream_code: 131053,
      details: 'why',
    });
  });

  test('keeps every digit of a media ID that is a number', async () => {
    const media_id = '122097329108006499';
    await expect(answered(`{"id":${media_id}}`)).resolves.toEqual({ media_id });
  });

  test('is an error if it names no media ID', async () => {
    const refused = { code: 'UPSTREAM_ERROR', retryable: true };
    await expect(answered('{}')).rejects.toMatchObject(refused);
  });
});
