import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { MockAgent } from 'undici';
import { useAgents } from '../../test/agents';
import { closing, useLocalServers } from '../../test/local-servers';
import { guardedFetch, type GuardedFetchOptions } from './fetch';
import type { GuardedAgent } from './guarded';

const SMALL_LIMIT_MS = 120;
const LONG_FILE = 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n';

const agentWith = useAgents();
let agent: GuardedAgent;
beforeEach(() => (agent = agentWith()));
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
    const broken = agentWith({ resolve: () => Promise.reject(new Error('no name server')) });
    await expect(get('http://media.example/', { agent: broken })).rejects.toMatchObject({
      reason: 'dns',
      retryable: true,
    });
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
    const slow = agentWith({ resolve: () => new Promise(() => undefined) });
    const options = { agent: slow, timeout_ms: SMALL_LIMIT_MS };
    await expect(get('http://media.example/', options)).rejects.toMatchObject(timeout);
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

// Each redirect is checked like the first URL, by the URL rules here and by the agent at connection.
describe('redirects', () => {
  const redirecting = (location: string, status = 302) =>
    http((request, response) => {
      if (request.url === '/') response.writeHead(status, { location }).end('moved');
      else response.end(`at ${request.url}`);
    });

  test.each([301, 302, 303, 307, 308])(
    'follows a %i, also to a relative address',
    async (status) => {
      const url = await redirecting('sub/../file?x=y', status);
      await expect(read(url)).resolves.toBe('at /file?x=y');
    },
  );

  test.each([
    ['metadata', 'http://169.254.169.254/latest/', 'private_address'],
    ['its decimal spelling', 'http://2852039166/', 'private_address'],
    ['mapped into IPv6', 'http://[::ffff:169.254.169.254]/', 'private_address'],
    ['credentials', 'http://user:pass@127.0.0.1/', 'has_credentials'],
    ['another scheme', 'file:///etc/passwd', 'not_https'],
    ['a blocked port', 'http://127.0.0.1:25/', 'bad_port'],
    ['a malformed URL', 'http://[', 'malformed'],
    ['a URL too long', `/${'a'.repeat(2_100)}`, 'too_long'],
  ])('refuses a redirect to %s', async (_case, location, reason) => {
    const url = await redirecting(location);
    await expect(get(url)).rejects.toMatchObject({ name: 'UrlRefused', field: 'url', reason });
  });

  test.each([
    ['a private address', 'https://10.0.0.1/', 'private_address', false],
    ['a private name', 'https://localhost/', 'private_host', false],
    ['plain http', 'http://cdn.example/', 'not_https', false],
    ['plain http, which is allowed', 'http://media.example/', 'not_https', true],
    ['plain http on another port', '//cdn.example:25/', 'bad_port', false],
  ])('refuses a redirect over HTTPS to %s', async (_case, location, reason, allowPrivate) => {
    const mock = new MockAgent();
    mock.disableNetConnect();
    mock
      .get('https://media.example')
      .intercept({ path: '/' })
      .reply(302, '', { headers: { location } });
    const mocked: GuardedAgent = { ...agent, dispatcher: mock, allowPrivate };
    await expect(get('https://media.example/', { agent: mocked })).rejects.toMatchObject({
      name: 'UrlRefused',
      reason,
    });
    await mock.close();
  });

  test('refuses a redirect to a name of a forbidden address when connecting', async () => {
    const url = await redirecting('http://innocent.example/');
    const resolving = agentWith({
      resolve: () => Promise.resolve([{ address: '169.254.169.254', family: 4 }]),
    });
    await expect(get(url, { agent: resolving })).rejects.toMatchObject({
      name: 'UrlRefused',
      field: 'url',
      reason: 'private_address',
    });
  });

  test('follows five redirects but not six', async () => {
    const url = await http((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end('there');
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    await expect(read(`${url}/5`)).resolves.toBe('there');
    const tooMany = { name: 'FetchFailed', reason: 'too_many_redirects', retryable: false };
    await expect(get(`${url}/6`)).rejects.toMatchObject(tooMany);
  });

  test('fails on a redirect without a Location', async () => {
    const url = await http((_request, response) => response.writeHead(302).end());
    await expect(get(url)).rejects.toMatchObject({ reason: 'http_status', http_status: 302 });
  });
});
