import type { IncomingMessage, RequestListener } from 'node:http';
import { buffer, text as textOf } from 'node:stream/consumers';
import { closing, useLocalServers } from '../../test/local-servers';
import { ownCall, type Call } from '../rpc';
import { unsampled } from '../telemetry';
import { createTransfer, type Transfer, type TransferRequest } from './transfer';

const TOKEN = 'EAAsecrettoken';
/** The timeout for an upstream that answers; enough on a busy machine too. */
const PATIENT_MS = 60_000;
/** The timeout for an upstream that does not answer. */
const STALL_MS = 300;

const { http } = useLocalServers();
let transfer: Transfer;
afterEach(() => transfer.stop());

/** Starts an upstream with its `transfer`, and returns its origin. */
async function upstream(listener: RequestListener, stall_ms = PATIENT_MS): Promise<string> {
  const origin = await http(listener);
  transfer = createTransfer({
    UPSTREAM_URL: `${origin}/base/`,
    UPSTREAM_API_VERSION: 'v26.0',
    UPSTREAM_TIMEOUT_MS: stall_ms,
  });
  return origin;
}

const call = ({ ms = PATIENT_MS, signal }: { ms?: number; signal?: AbortSignal } = {}): Call => ({
  ...ownCall(unsampled(), ms),
  signal,
});

async function* pieces(count: number, size: number, pause_ms = 0): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index += 1) {
    if (pause_ms > 0) await new Promise((resolve) => setTimeout(resolve, pause_ms));
    yield Buffer.alloc(size, index);
  }
}

const post = (over: Partial<TransferRequest> = {}): TransferRequest => ({
  operation: 'POST /x',
  method: 'POST',
  path: '/x?a=1',
  token: TOKEN,
  ...over,
});

test('streams a body with its length and the given authorization scheme', async () => {
  let seen: { request: IncomingMessage; body: Buffer } | undefined;
  await upstream(async (request, response) => {
    seen = { request, body: await buffer(request) };
    response.end('{"h":"4::x"}');
  });
  const body = { length_bytes: 3_000, chunks: pieces(3, 1_000) };
  const headers = { file_offset: '0' };
  await expect(transfer.json(post({ scheme: 'OAuth', body, headers }), call())).resolves.toEqual({
    h: '4::x',
  });
  expect(seen?.request.url).toBe('/base/v26.0/x?a=1');
  expect(seen?.request.headers).toMatchObject({
    authorization: `OAuth ${TOKEN}`,
    'content-length': '3000',
    file_offset: '0',
    traceparent: expect.stringContaining('00-'),
  });
  expect(seen?.body).toHaveLength(3_000);
});

describe('time limits', () => {
  test('a slow body may take longer than the stall timeout', async () => {
    await upstream(async (request, response) => {
      await buffer(request);
      response.end('{}');
    }, 1_000);
    const body = { length_bytes: 7 * 65_536, chunks: pieces(7, 65_536, 200) };
    await expect(transfer.json(post({ body }), call())).resolves.toEqual({});
  });

  test('aborts when the upstream stops reading', async () => {
    await upstream((request) => void request.pause(), STALL_MS);
    const body = { length_bytes: 64 * 1_048_576, chunks: pieces(64, 1_048_576) };
    await expect(transfer.json(post({ body }), call())).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'the upstream did not answer in time',
      upstream_code: undefined,
      retryable: true,
    });
  });

  test('aborts when the upstream does not answer', async () => {
    await upstream((request) => void request.resume(), STALL_MS);
    const body = { length_bytes: 10, chunks: pieces(1, 10) };
    await expect(transfer.json(post({ body }), call())).rejects.toMatchObject({
      message: 'the upstream did not answer in time',
    });
  });

  test('aborts at the deadline and does not start without time left', async () => {
    let requests = 0;
    await upstream((request) => {
      requests += 1;
      request.resume();
    });
    const body = { length_bytes: 10, chunks: pieces(1, 10) };
    await expect(transfer.json(post({ body }), call({ ms: 1_000 }))).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
    });
    await expect(transfer.json(post(), call({ ms: 10 }))).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
    });
    expect(requests).toBe(1);
  });

  test('cancels when the caller disconnects', async () => {
    const abort = new AbortController();
    let closed: Promise<unknown> | undefined;
    await upstream((request) => {
      closed = closing(request.socket);
      request.resume();
      abort.abort();
    });
    await expect(transfer.json(post(), call({ signal: abort.signal }))).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
    });
    await closed;
  });
});

describe('refusals', () => {
  test('maps an error object and removes the token', async () => {
    await upstream((request, response) => {
      request.resume();
      const error = {
        code: 100,
        error_subcode: 33,
        message: `bad ${TOKEN}`,
        error_user_msg: 'Sorry',
      };
      response.writeHead(400).end(JSON.stringify({ error }));
    });
    await expect(transfer.json(post(), call())).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'bad [redacted]',
      upstream_code: 100,
      upstream_subcode: 33,
      details: 'Sorry',
      retryable: false,
    });
  });

  test('reads a refusal that arrives before the body is sent', async () => {
    await upstream((_request, response) => {
      response.writeHead(400).end('{"error":{"code":131053,"message":"too large"}}');
    });
    const body = { length_bytes: 8 * 1_048_576, chunks: pieces(8, 1_048_576) };
    await expect(transfer.json(post({ body }), call())).rejects.toMatchObject({
      upstream_code: 131053,
    });
  });

  test('lets the caller map a refusal', async () => {
    await upstream((request, response) => {
      request.resume();
      response.writeHead(404).end('<html>');
    });
    const known = new Error('known');
    const refusal = (status: number): never | undefined =>
      status === 404 ? (known as never) : undefined;
    await expect(transfer.json(post({ refusal }), call())).rejects.toBe(known);
  });

  test.each([
    ['a page of HTML', 500, '<html>', true],
    ['nothing', 413, '', false],
    ['a 200 with invalid JSON', 200, 'no JSON', true],
    ['a 200 with JSON that is not an object', 200, '[]', true],
    ['an endless 200', 200, `{"a":"${'x'.repeat(1_100_000)}"}`, true],
  ])('%s gives no reason', async (_name, status, text, retryable) => {
    await upstream((request, response) => {
      request.resume();
      response.on('error', () => undefined);
      response.writeHead(status).end(text);
    });
    await expect(transfer.json(post(), call())).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      upstream_code: undefined,
      retryable,
    });
  });
});

test('repeats only a read without an answer, once', async () => {
  let requests = 0;
  await upstream((request, response) => {
    requests += 1;
    if (requests % 2 === 1) request.socket.destroy();
    else response.end('{}');
  });
  await expect(transfer.json(post({ method: 'GET' }), call())).resolves.toEqual({});
  expect(requests).toBe(2);
  await expect(transfer.json(post(), call())).rejects.toMatchObject({
    message: 'the upstream broke the connection',
    retryable: true,
  });
  expect(requests).toBe(3);
});

describe('a file of the upstream', () => {
  test('is returned unchanged, with any status', async () => {
    const origin = await upstream((request, response) => {
      const found =
        request.url === '/file?id=1' && request.headers.authorization === `Bearer ${TOKEN}`;
      response.writeHead(found ? 200 : 404, { 'content-type': 'image/png' }).end('bytes');
    });
    const open = (path: string) =>
      transfer.open({ operation: 'GET file', url: new URL(origin + path), token: TOKEN }, call());
    const file = await open('/file?id=1');
    expect(file).toMatchObject({ status: 200, headers: { 'content-type': 'image/png' } });
    expect(await textOf(file.body)).toBe('bytes');
    const other = await open('/other');
    expect(other.status).toBe(404);
    other.body.destroy();
  });

  test('fails with an ApiError when it breaks off', async () => {
    const origin = await upstream((_request, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('abc');
      setTimeout(() => response.destroy(), 20);
    });
    const url = new URL(origin);
    const file = await transfer.open({ operation: 'GET file', url, token: TOKEN }, call());
    await expect(buffer(file.body)).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      retryable: true,
    });
  });

  test('aborts when it stalls, but not while it is unread', async () => {
    const origin = await upstream((_request, response) => {
      response.writeHead(200).write(Buffer.alloc(4 * 1_048_576));
    }, STALL_MS);
    const url = new URL(origin);
    const file = await transfer.open({ operation: 'GET file', url, token: TOKEN }, call());
    const reader = file.body[Symbol.asyncIterator]();
    await reader.next();
    // The test needs the time without a read.
    await new Promise((resolve) => setTimeout(resolve, 3 * STALL_MS));
    let size = 0;
    const readOn = async (): Promise<void> => {
      for (let next = await reader.next(); !next.done; next = await reader.next()) {
        size += next.value.length;
      }
    };
    await expect(readOn()).rejects.toMatchObject({
      message: 'the upstream did not answer in time',
    });
    expect(size).toBeGreaterThan(3 * 1_048_576);
  });
});
