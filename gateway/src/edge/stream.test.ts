import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { ApiError } from '@bmg/common/errors';
import {
  createRpcClient,
  createRpcServer,
  implement,
  type Call,
  type RpcClient,
  type RpcServer,
} from '@bmg/common/rpc';
import {
  MessagingDefinition,
  type DownloadMediaChunk,
  type DownloadMediaRequest,
} from '@bmg/proto/messaging';
import { eventually } from '../../../test/testkit/eventually';
import { useApp } from '../../test/app';
import { media } from '../endpoints/media/rows';

type Download = (request: DownloadMediaRequest, call: Call) => AsyncIterable<DownloadMediaChunk>;

const { start, log } = useApp();
let download: Download;
let rpc: RpcServer;
let client: RpcClient<typeof MessagingDefinition>;
let port: number;
const counted: Array<[string, boolean]> = [];

beforeAll(async () => {
  const handlers = new Proxy(
    {},
    { get: () => (request: DownloadMediaRequest, call: Call) => download(request, call) },
  );
  rpc = createRpcServer(
    { host: '127.0.0.1', port: 0 },
    [implement(MessagingDefinition, handlers as never)],
    log,
  );
  await rpc.start(new AbortController().signal);
  client = createRpcClient(MessagingDefinition, `127.0.0.1:${rpc.port}`);
  port = await start({
    endpoints: media,
    notices: { 'X-Service-Api-Version': '2.9.2' },
    meter: {
      count: (_partner_id: string, _method: string, endpoint: string, failed: boolean) =>
        counted.push([endpoint, failed]),
    },
    client: () => client.rpc,
  });
});
afterAll(async () => {
  await client.stop();
  await rpc.stop();
});
beforeEach(() => counted.splice(0));

async function get(path: string, method = 'GET'): Promise<IncomingMessage> {
  const headers = { 'x-partner-key': 'k', 'x-waba-id': '900000000000001' };
  const request = httpRequest({ host: '127.0.0.1', port, path: `/v1${path}`, method, headers });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

async function read(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const head = (size_bytes?: number, mime_type?: string, file_name?: string): DownloadMediaChunk => ({
  mime_type,
  size_bytes,
  file_name,
  data: Buffer.alloc(0),
});
const piece = (content: Buffer | string): DownloadMediaChunk => ({
  mime_type: undefined,
  size_bytes: undefined,
  file_name: undefined,
  data: Buffer.from(content),
});

/** Sends the chunks, then the failure, if any. */
const sending = (chunks: DownloadMediaChunk[], failure?: Error): Download =>
  async function* () {
    yield* chunks;
    if (failure) throw failure;
  };

const content = Buffer.from(Array.from({ length: 1_000_000 }, (_, index) => index % 251));
const pieces = [0, 1, 2, 3].map((at) => piece(content.subarray(at * 250_000, (at + 1) * 250_000)));

test.each(['/media/123', '/contacts/media/123'])(
  'GET %s answers with the exact bytes, type and length',
  async (path) => {
    let asked: DownloadMediaRequest | undefined;
    download = (request, call) => {
      asked = request;
      return sending([head(1_000_000, 'audio/ogg; codecs=opus'), ...pieces])(request, call);
    };
    const response = await get(path);
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': 'audio/ogg; codecs=opus',
      'content-length': '1000000',
      'x-content-type-options': 'nosniff',
      'x-service-api-version': '2.9.2',
      'x-request-id': expect.any(String),
    });
    expect((await read(response)).equals(content)).toBe(true);
    expect(asked).toMatchObject({
      media_id: '123',
      target: { phone_number_id: '2' },
    });
    expect(counted).toEqual([['/media/download', false]]);
  },
);

test('streams a file of unknown length and type', async () => {
  download = sending([head(), ...pieces]);
  const response = await get('/media/123');
  expect(response.headers['content-type']).toBe('application/octet-stream');
  expect(response.headers).not.toHaveProperty('content-length');
  expect((await read(response)).equals(content)).toBe(true);
});

test.each([
  [undefined, 'attachment'],
  ['Invoice 17.pdf', 'attachment; filename="Invoice 17.pdf"'],
  ['a"; x="b.html', 'attachment; filename="a\\"; x=\\"b.html"'],
  [
    'ß 价格.pdf',
    `attachment; filename="? ??.pdf"; filename*=UTF-8''%C3%9F%20%E4%BB%B7%E6%A0%BC.pdf`,
  ],
])('a file named %p is an attachment of its own type', async (file_name, disposition) => {
  download = sending([head(0, 'text/html', file_name)]);
  const { headers } = await get('/media/123');
  expect([headers['content-disposition'], headers['content-type']]).toEqual([
    disposition,
    'text/html',
  ]);
});

test('streams an empty file', async () => {
  download = sending([head(0, 'text/plain')]);
  const response = await get('/media/123');
  expect(response.headers['content-length']).toBe('0');
  expect(await read(response)).toHaveLength(0);
});

test('answers a failure before the first byte with the error body', async () => {
  download = sending([], new ApiError('MEDIA_NOT_FOUND', 'gone'));
  const response = await get('/media/123');
  expect(response.statusCode).toBe(404);
  expect(response.headers['content-type']).toContain('application/json');
  expect(JSON.parse((await read(response)).toString())).toMatchObject({
    success: false,
    error: { code: 'MEDIA_NOT_FOUND', message: 'gone', retryable: false },
  });
  expect(counted).toEqual([['/media/download', true]]);
});

test.each([
  ['a failure', [head(1_000_000), ...pieces.slice(0, 2)], new ApiError('UPSTREAM_ERROR', 'x')],
  [
    'a failure of a file of unknown length',
    [head(), ...pieces],
    new ApiError('UPSTREAM_ERROR', 'x'),
  ],
  ['a file shorter than announced', [head(1_000_000), ...pieces.slice(0, 2)], undefined],
  ['a file longer than announced', [head(999_999), ...pieces], undefined],
])('breaks the connection after the first byte for %s', async (_name, chunks, failure) => {
  download = sending(chunks, failure);
  const response = await get('/media/123');
  expect(response.statusCode).toBe(200);
  await expect(read(response)).rejects.toThrow();
  expect(counted).toEqual([['/media/download', true]]);
});

test('cancels the RPC when the client disconnects', async () => {
  let ended: (() => void) | undefined;
  const call_ended = new Promise<void>((resolve) => (ended = resolve));
  download = async function* (_request, call) {
    yield head();
    try {
      while (!call.signal?.aborted) {
        yield piece(Buffer.alloc(65_536));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    } finally {
      ended?.();
    }
  };
  const response = await get('/media/123');
  await once(response, 'data');
  response.destroy();
  await call_ended;
  await eventually(() => counted.length > 0);
  expect(counted).toEqual([['/media/download', true]]);
});

test('applies backpressure when the client does not read', async () => {
  const TOTAL = 600;
  let given = 0;
  download = async function* () {
    yield head();
    for (; given < TOTAL; given += 1) yield piece(Buffer.alloc(262_144));
  };
  const response = await get('/media/123');
  response.pause();
  // No event marks that it has stopped.
  let before = -1;
  while (given !== before) {
    before = given;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  // Only the part of the 150 MB that fits into the sockets and the RPC's two streams was sent.
  expect(given).toBeLessThan(TOTAL / 3);
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of response) {
    size += (chunk as Buffer).length;
    hash.update(chunk as Buffer);
  }
  expect(size).toBe(TOTAL * 262_144);
});

test('answers HEAD with headers only', async () => {
  download = sending([head(1_000_000, 'image/png'), ...pieces]);
  const response = await get('/media/123', 'HEAD');
  expect(response.statusCode).toBe(200);
  expect(response.headers['content-length']).toBe('1000000');
  expect(await read(response)).toHaveLength(0);
});
