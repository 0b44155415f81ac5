import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { closing, useLocalServers } from '../../test/local-servers';
import { guardedFetch, type GuardedFetchOptions } from './fetch';
import { guardedAgent, type GuardedAgent } from './guarded';

const SMALL_LIMIT_MS = 120;
const LONG_FILE = 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n';

let agent: GuardedAgent;
beforeEach(() => (agent = guardedAgent({ allowPrivate: true })));
afterEach(() => agent.destroy());
const { http, tcp, trickling } = useLocalServers();

const get = (url: string, options: Partial<GuardedFetchOptions> = {}) =>
  guardedFetch(url, { agent, field: 'url', ...options });

const read = async (...args: Parameters<typeof get>): Promise<string> =>
  text((await get(...args)).body);

test('fetches the complete file with its status, headers and URL', async () => {
  const url = await http((_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' }).end('x'.repeat(300_000));
  });
  const file = await get(`${url}/a.png#part`);
  expect(file.status).toBe(200);
  expect(file.headers['content-type']).toBe('image/png');
  expect(await text(file.body)).toHaveLength(300_000);
});

test('sends no credentials, cookies or compression offer to any host', async () => {
  const seen: IncomingMessage['headers'][] = [];
  const url = await http((request, response) => {
    seen.push(request.headers);
    if (request.url === '/') response.writeHead(302, { location: '/2', 'set-cookie': 'a=b' }).end();
    else response.end('ok');
  });
  const headers = {
    Authorization: 'secret',
    Cookie: 'a=b',
    'User-Agent': 'bmg',
    'Accept-Encoding': 'br',
  };
  await expect(read(url, { headers })).resolves.toBe('ok');
  expect(seen).toHaveLength(2);
  for (const one of seen) {
    expect(one).toMatchObject({
      accept: '*/*',
      'user-agent': 'bmg',
      'accept-encoding': 'identity',
    });
    expect(one).not.toHaveProperty('authorization');
    expect(one).not.toHaveProperty('cookie');
  }
});

test('refuses a line break in a header before sending anything', async () => {
  const url = await http((_request, response) => response.end());
  await expect(get(url, { headers: { 'x-a': 'b\r\nc: d' } })).rejects.toThrow(TypeError);
});

describe('an answer without a file', () => {
  test.each([
    [404, false],
    [403, false],
    [429, false],
    [304, false],
    [500, true],
    [503, true],
  ])('%i fails, retryable: %s', async (status, retryable) => {
    const url = await http((_request, response) => response.writeHead(status).end());
    await expect(get(url)).rejects.toMatchObject({
      name: 'FetchFailed',
      reason: 'http_status',
      http_status: status,
      retryable,
    });
  });

  test('fails if it is compressed although that was not requested', async () => {
    const url = await http((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('...');
    });
    await expect(get(url)).rejects.toMatchObject({ reason: 'content_encoding' });
  });

  test('is retryable when the name temporarily fails to resolve', async () => {
    const broken = guardedAgent({
      allowPrivate: true,
      resolve: () => Promise.reject(new Error('no name server')),
    });
    await expect(get('http://media.example/', { agent: broken })).rejects.toMatchObject({
      reason: 'dns',
      retryable: true,
    });
    await broken.destroy();
  });
});

describe('size', () => {
  test('aborts a file that exceeds the limit while reading', async () => {
    let closed: Promise<unknown> | undefined;
    const url = await http((_request, response) => {
      closed = closing(response);
      response.on('error', () => undefined);
      const timer = setInterval(() => response.write('x'.repeat(600)), 2);
      response.on('close', () => clearInterval(timer));
    });
    await expect(read(url, { max_bytes: 1_000 })).rejects.toMatchObject({
      reason: 'too_large',
      limit_bytes: 1_000,
    });
    await closed;
  });

  test('accepts a file of exactly the limit', async () => {
    const url = await http((_request, response) => response.end('x'.repeat(1_000)));
    await expect(read(url, { max_bytes: 1_000 })).resolves.toHaveLength(1_000);
  });
});

describe('time', () => {
  const timeout = { name: 'FetchFailed', reason: 'timeout', retryable: true };

  test('times out when a host does not answer', async () => {
    const url = await tcp(() => undefined);
    await expect(get(url, { timeout_ms: SMALL_LIMIT_MS })).rejects.toMatchObject(timeout);
  });

  test('times out while connecting', async () => {
    const slow = guardedAgent({ allowPrivate: true, resolve: () => new Promise(() => undefined) });
    const options = { agent: slow, timeout_ms: SMALL_LIMIT_MS };
    await expect(get('http://media.example/', options)).rejects.toMatchObject(timeout);
    await slow.destroy();
  });

  test('times out on a trickling body', async () => {
    const { url, closed } = await trickling(LONG_FILE, '.');
    await expect(read(url, { timeout_ms: SMALL_LIMIT_MS })).rejects.toMatchObject(timeout);
    await closed;
  });

  test('a redirect does not restart the timeout', async () => {
    const url = await http((request, response) => {
      const next = Number(request.url?.slice(1)) + 1;
      setTimeout(() => response.writeHead(302, { location: `/${next}` }).end(), SMALL_LIMIT_MS / 2);
    });
    await expect(get(`${url}/0`, { timeout_ms: SMALL_LIMIT_MS })).rejects.toMatchObject(timeout);
  });

  test('aborts an unread body at the timeout', async () => {
    const { url, closed } = await trickling(LONG_FILE, '.');
    await get(url, { timeout_ms: SMALL_LIMIT_MS });
    await closed;
  });

  test('closes the connection as soon as the body is destroyed', async () => {
    const { url, closed } = await trickling(LONG_FILE, '.');
    (await get(url)).body.destroy();
    await closed;
  });

  test('lets the caller cancel before and while the body arrives', async () => {
    const { url } = await trickling(LONG_FILE, '.');
    const aborted = { name: 'FetchFailed', reason: 'aborted', retryable: false };
    await expect(get(url, { signal: AbortSignal.abort() })).rejects.toMatchObject(aborted);
    await expect(read(url, { signal: AbortSignal.timeout(30) })).rejects.toMatchObject(aborted);
  });
});
