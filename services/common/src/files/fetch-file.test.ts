import { buffer } from 'node:stream/consumers';
import { useLocalServers } from '../../test/local-servers';
import type { Call } from '../rpc';
import { createFileFetcher, type FetchWish, type FileFetcher } from './fetch-file';

const LIMIT_BYTES = 1_000_000;
const SETTINGS = { ALLOW_PRIVATE_URLS: true, SPOOL_LIMIT_MB: 100 };

let fetcher: FileFetcher;
beforeEach(() => (fetcher = createFileFetcher(SETTINGS)));
afterEach(() => fetcher.stop());
const { http, tcp, trickling } = useLocalServers();

/** A server that sends exactly this text and hangs up. */
const saying = (text: string): Promise<string> => tcp((socket) => socket.end(text));

const call = (signal?: AbortSignal): Call =>
  ({ deadline: Date.now() + 60_000, signal }) as unknown as Call;
const wish = (url: string): FetchWish => ({
  ...{ url: `${url}/photo.jpg`, field: 'url', limit_bytes: LIMIT_BYTES },
  ...{ mime_type: 'image/png', partner_id: 'p' },
});
const get = (url: string, by = fetcher, signal?: AbortSignal) => by.fetch(wish(url), call(signal));

async function contentOf(url: string): Promise<Buffer> {
  const file = await get(url);
  const content = await buffer(file.chunks());
  await file.close();
  return content;
}

test('fetches a complete file with and without an announced length', async () => {
  const content = Buffer.alloc(700_000, 'abc');
  const plain = await http((_request, response) => response.end(content));
  const chunked = await http((_request, response) => {
    response.write(content.subarray(0, 5));
    response.end(content.subarray(5));
  });
  expect((await contentOf(plain)).equals(content)).toBe(true);
  expect((await contentOf(chunked)).equals(content)).toBe(true);
});

test('refuses an oversize file by its announced length without reading it', async () => {
  const url = await http((_request, response) => {
    response.writeHead(200, { 'content-length': '1000001' }).flushHeaders();
  });
  await expect(get(url)).rejects.toMatchObject({
    code: 'MEDIA_TOO_LARGE',
    http: 400,
    details: { size_bytes: 1_000_001, limit_bytes: LIMIT_BYTES },
  });
});

describe('a source that lies about its length', () => {
  test.each([
    ['announces more than it sends', 'reset', 'content-length: 10\r\n\r\nabc'],
    ['breaks off in a chunked file', 'reset', 'transfer-encoding: chunked\r\n\r\na\r\nabc'],
    ['announces two lengths', 'protocol', 'content-length: 3\r\ncontent-length: 4\r\n\r\nabc'],
  ])('%s: %s', async (_name, reason, text) => {
    await expect(get(await saying(`HTTP/1.1 200 OK\r\n${text}`))).rejects.toMatchObject({
      code: 'INVALID_FIELD',
      details: { field: 'url', reason },
      retryable: false,
    });
  });

  test('sends more than it announces: the excess is discarded', async () => {
    const url = await saying('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabcdef');
    expect((await contentOf(url)).toString()).toBe('abc');
  });
});

describe('an unavailable source is INVALID_FIELD naming the field', () => {
  test.each([
    [404, false],
    [503, true],
  ])('HTTP %i, retryable: %s', async (http_status, retryable) => {
    const url = await http((_request, response) => response.writeHead(http_status).end('sorry'));
    await expect(get(url)).rejects.toMatchObject({
      code: 'INVALID_FIELD',
      details: { field: 'url', reason: 'http_status', http_status },
      retryable,
    });
  });

  test('sends below the minimum rate', async () => {
    const impatient = createFileFetcher(SETTINGS, { rate_interval_ms: 100 });
    const { url } = await trickling('HTTP/1.1 200 OK\r\n\r\n', 'x');
    await expect(get(url, impatient)).rejects.toMatchObject({
      code: 'INVALID_FIELD',
      details: { field: 'url', reason: 'timeout' },
      retryable: true,
    });
    await impatient.stop();
  });

  test('has an empty file', async () => {
    const url = await http((_request, response) => response.end());
    await expect(get(url)).rejects.toMatchObject({ details: { field: 'url', reason: 'empty' } });
  });

  test('has a private address, which the setting does not allow', async () => {
    const strict = createFileFetcher({ ...SETTINGS, ALLOW_PRIVATE_URLS: false });
    await expect(get('https://127.0.0.1', strict)).rejects.toMatchObject({
      code: 'INVALID_FIELD',
      message: 'url must lead to an address on the public internet',
      details: { field: 'url', reason: 'private_address' },
      retryable: false,
    });
    await strict.stop();
  });
});

test('cancels the fetch when the caller disconnects', async () => {
  const url = await http((_request, response) => response.write('x'));
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 30);
  await expect(get(url, fetcher, abort.signal)).rejects.toMatchObject({
    details: { reason: 'aborted' },
  });
});
