import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { useAgents } from '../../test/agents';
import { closing, useLocalServers } from '../../test/local-servers';
import type { GuardedAgent } from './guarded';
import { guardedPost, PostFailed } from './post';

const BODY = Buffer.from('{"event":"message.received"}');
const SMALL_LIMIT_MS = 120;
// Long enough for headers to arrive on a busy machine.
const LIMIT_AFTER_HEADERS_MS = 1_000;

const agentWith = useAgents({ connectionsPerOrigin: 1 });
let agent: GuardedAgent;
beforeEach(() => (agent = agentWith()));
const { http, tcp, trickling, urlOf } = useLocalServers();

const post = (url: string, options: Partial<Parameters<typeof guardedPost>[2]> = {}) =>
  guardedPost(url, BODY, { agent, pool: 'ptn_a', headers: {}, timeout_ms: 4_000, ...options });

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'delivered',
    (error: unknown) => (error instanceof PostFailed ? error.reason : error),
  );

test('a hanging request of one partner does not hold up another partner on the same host', async () => {
  let release: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (release = resolve));
  const seen: unknown[] = [];
  const url = await http((request, response) => {
    const { host, authorization } = request.headers;
    seen.push({ host, authorization });
    if (request.url === '/hang') void answered.then(() => response.end());
    else response.end();
  });
  const hanging = post(`${url}/hang`);
  await expect(post(url, { pool: 'ptn_b' })).resolves.toMatchObject({ status: 200 });
  release();
  await expect(hanging).resolves.toMatchObject({ status: 200 });
  const { host } = new URL(url);
  expect(seen).toEqual(Array(2).fill({ host, authorization: undefined }));
});

test('sends the exact bytes and headers and returns the status and headers', async () => {
  let seen: unknown;
  const url = await http(async (request, response) => {
    const { method, url: path, headers } = request;
    seen = { method, path, body: await text(request), type: headers['content-type'] };
    response.writeHead(503, { 'Retry-After': '7' }).end('busy');
  });
  const result = await post(`${url}/hook?a=b#c`, {
    headers: { 'Content-Type': 'application/json' },
  });
  expect(result).toMatchObject({ status: 503, headers: { 'retry-after': '7' } });
  expect(seen).toEqual({
    method: 'POST',
    path: '/hook?a=b',
    body: BODY.toString(),
    type: 'application/json',
  });
});

test.each([
  ['an unasked 100 Continue', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0'],
  ['long headers', `HTTP/1.1 202 Accepted\r\nx: ${'y'.repeat(100_000)}\r\nContent-Length: 0`],
  [
    'a length beside chunks',
    'HTTP/1.1 204 No Content\r\nContent-Length: 7\r\nTransfer-Encoding: chunked',
  ],
])('returns the status of an answer with %s', async (_framing, head) => {
  const bytes = `${head}\r\n\r\n`;
  const url = await tcp((socket) => {
    socket.write(bytes.slice(0, 12));
    setTimeout(() => socket.end(bytes.slice(12)), 20);
  });
  const status = Number(/ (2\d\d) /.exec(head)?.[1]);
  await expect(post(url)).resolves.toMatchObject({ status });
});

test.each([301, 302, 303, 307, 308])('returns a %i without following it', async (status) => {
  const paths: (string | undefined)[] = [];
  const url = await http((request, response) => {
    paths.push(request.url);
    response.writeHead(status, { location: '/elsewhere' }).end();
  });
  await expect(post(`${url}/hook`)).resolves.toMatchObject({ status });
  expect(paths).toEqual(['/hook']);
});

test.each([
  ['a URL that is not allowed', 'http://169.254.169.254/'],
  ['a malformed URL', 'partner'],
])('%s fails as url_refused', async (_case, url) => {
  expect(await failure(post(url))).toBe('url_refused');
});

describe('a slow answer', () => {
  test('times out without an answer', async () => {
    const url = await tcp(() => undefined);
    expect(await failure(post(url, { timeout_ms: SMALL_LIMIT_MS }))).toBe('timeout');
  });

  test.each([
    ['trickling headers', 'HTTP/1.1 200 OK\r\n', 'x: y\r\n'],
    ['endless provisional answers', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ])('times out on %s and closes the connection', async (_answer, head, piece) => {
    const { url, closed } = await trickling(head, piece);
    expect(await failure(post(url, { timeout_ms: SMALL_LIMIT_MS }))).toBe('timeout');
    await closed;
  });

  test('cuts off a trickling body at the timeout and returns the status', async () => {
    const { url, closed } = await trickling('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n', '.');
    const started = performance.now();
    const result = await post(url, { timeout_ms: LIMIT_AFTER_HEADERS_MS });
    expect(result.status).toBe(200);
    expect(performance.now() - started).toBeGreaterThanOrEqual(LIMIT_AFTER_HEADERS_MS - 5);
    await closed;
  });

  test('times out while waiting for a connection, sends nothing and keeps the connection', async () => {
    let connections = 0;
    let requests = 0;
    let slow = true;
    const server = createServer((_request, response) => {
      requests++;
      if (slow) setTimeout(() => response.end(), SMALL_LIMIT_MS * 2);
      else response.end();
    });
    server.on('connection', () => connections++);
    const url = await urlOf(server);
    const first = post(url, { timeout_ms: SMALL_LIMIT_MS * 50 });
    const second = failure(post(url, { timeout_ms: SMALL_LIMIT_MS }));
    expect(await second).toBe('timeout');
    slow = false;
    await expect(first).resolves.toMatchObject({ status: 200 });
    await expect(post(url)).resolves.toMatchObject({ status: 200 });
    expect({ connections, requests }).toEqual({ connections: 1, requests: 2 });
  });
});

describe('an oversized or missing answer', () => {
  test('cuts off a long body at once and returns the status', async () => {
    let closed: Promise<unknown> | undefined;
    const url = await http((_request, response) => {
      closed = closing(response);
      response.on('error', () => undefined);
      const write = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', write);
      write();
    });
    await expect(post(url)).resolves.toMatchObject({ status: 200 });
    await closed;
  });

  test('returns the status even if the body breaks off', async () => {
    const url = await tcp((socket) => {
      socket.end('HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n');
    });
    await expect(post(url)).resolves.toMatchObject({ status: 204 });
    const other = await tcp((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab');
    });
    await expect(post(other)).resolves.toMatchObject({ status: 200 });
  });

  test.each<[string, string, (socket: Socket) => unknown]>([
    ['reset', 'a connection that is reset', (socket) => socket.resetAndDestroy()],
    ['reset', 'a connection that closes without an answer', (socket) => socket.end()],
    ['protocol', 'another protocol than HTTP', (socket) => socket.write('220 mail ESMTP\r\n')],
    [
      'protocol',
      'headers without end',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}\r\n`),
    ],
  ])('fails with %s for %s', async (reason, _case, behave) => {
    const url = await tcp(behave);
    expect(await failure(post(url))).toBe(reason);
  });
});

describe('headers', () => {
  test.each([
    ['a line end in a value', { 'x-a': 'b\r\nx-injected: c' }],
    ['a bare line feed', { 'x-a': 'b\nc' }],
    ['a zero byte', { 'x-a': 'b\u0000' }],
    ['a character that is no byte', { 'x-a': '漢' }],
    ['a line end in a name', { 'x-a\r\nx-b': 'c' }],
    ['an empty name', { '': 'c' }],
    ['host', { Host: 'other.example' }],
    ['content-length', { 'content-length': '1' }],
    ['transfer-encoding', { 'transfer-encoding': 'chunked' }],
  ])('refuses %s before sending anything, and later posts succeed', async (_case, headers) => {
    let requests = 0;
    const url = await http((_request, response) => {
      requests++;
      response.end();
    });
    for (let i = 0; i < 3; i++) {
      await expect(post(url, { headers: headers as Record<string, string> })).rejects.toThrow(
        TypeError,
      );
    }
    expect(requests).toBe(0);
    await expect(post(url)).resolves.toMatchObject({ status: 200 });
  });
});
