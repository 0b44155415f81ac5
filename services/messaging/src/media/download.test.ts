import { createHash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import {
  createFileFetcher,
  createTransfer,
  type FileFetcher,
  type Transfer,
} from '@bmg/common/files';
import { createByteRate, createTransferPool, EVICTION_GRACE_MS } from '@bmg/common/overload';
import { createLogger } from '@bmg/common/telemetry';
import type { DownloadMediaChunk } from '@bmg/proto/messaging';
import { startEmulator, type Emulator } from '../../../../test/emulator';
import { TARGET } from '../../test/builders';
import { downloadMedia } from './download';
import { createMediaHosts } from './hosts';
import { aCall } from '../../../../test/testkit/call';
import { useLocalServers } from '../../../common/test/local-servers';

const NUMBER = TARGET.phone_number_id;
const TOKEN = 'EMULATED-TOKEN-1';
const CHUNK_MAX_BYTES = 262_144;

const transfers: (Transfer | FileFetcher)[] = [];
const { http } = useLocalServers();
afterEach(async () => {
  for (const transfer of transfers.splice(0)) await transfer.stop();
});

/** An upstream at this address that serves media. */
function from(origin: string, { bytes_per_s = Infinity, ALLOW_PRIVATE_URLS = true } = {}) {
  const settings = {
    UPSTREAM_URL: origin,
    UPSTREAM_API_VERSION: 'v26.0',
    UPSTREAM_TIMEOUT_MS: 2_000,
    UPSTREAM_MEDIA_HOSTS: 'files.example.org',
  };
  const transfer = createTransfer(settings);
  const files = createFileFetcher({ ALLOW_PRIVATE_URLS, SPOOL_LIMIT_MB: 1 });
  transfers.push(transfer, files);
  const deps = {
    transfer,
    files,
    mediaHosts: createMediaHosts(settings),
    credentials: { of: async () => ({ access_token: TOKEN }) as never },
    downloads: createTransferPool(
      { server: 'media', reason: 'downloads', holder: 'partner', max: 4 },
      createLogger('test'),
    ),
    downloadRate: createByteRate(bytes_per_s),
  };
  return (
    media_id: string,
    { phone_number_id = NUMBER, signal = undefined as AbortSignal | undefined } = {},
  ) => downloadMedia(deps, { target: { ...TARGET, phone_number_id }, media_id }, aCall({ signal }));
}

async function read(chunks: AsyncIterable<DownloadMediaChunk>) {
  const all: DownloadMediaChunk[] = [];
  for await (const chunk of chunks) all.push(chunk);
  const pieces = all.map(({ data }) => data);
  const { data: _none, ...head } = all[0] as DownloadMediaChunk;
  return {
    ...head,
    received_bytes: pieces.reduce((sum, { length }) => sum + length, 0),
    largest_bytes: Math.max(...pieces.map(({ length }) => length)),
    sha256: createHash('sha256').update(Buffer.concat(pieces)).digest('hex'),
  };
}

const upstreamError = { code: 'UPSTREAM_ERROR' };

describe('a download', () => {
  let emulator: Emulator;
  beforeAll(async () => (emulator = await startEmulator({ port: 0 })));
  afterAll(() => emulator.close());

  test('streams a file byte for byte, with its type and size', async () => {
    const size_bytes = 5_000_000;
    const media = await emulator.media({
      phone_number_id: NUMBER,
      mime_type: 'video/mp4',
      size_bytes,
    });
    const got = await read(from(emulator.url)(media.id));
    expect(got).toMatchObject({
      mime_type: 'video/mp4',
      size_bytes,
      received_bytes: size_bytes,
      sha256: media.sha256,
    });
    expect(got.largest_bytes).toBeLessThanOrEqual(CHUNK_MAX_BYTES);
  });

  test('moves the bytes of one partner at its rate', async () => {
    const media = await emulator.media({ phone_number_id: NUMBER, size_bytes: 5_000_000 });
    const started = performance.now();
    await read(from(emulator.url, { bytes_per_s: 4_000_000 })(media.id));
    // Half a second's worth at once, the rest within three quarters of a second.
    expect(performance.now() - started).toBeGreaterThanOrEqual(600);
  });

  test('answers MEDIA_NOT_FOUND for an unknown id and for one of another number', async () => {
    const media = await emulator.media({ phone_number_id: NUMBER, size_bytes: 10 });
    const download = from(emulator.url);
    const notFound = { code: 'MEDIA_NOT_FOUND', http: 404, retryable: false };
    await expect(read(download('123456'))).rejects.toMatchObject(notFound);
    await expect(
      read(download(media.id, { phone_number_id: '800000000000002' })),
    ).rejects.toMatchObject(notFound);
  });

  test('requests no malformed id from the upstream', async () => {
    const download = from('http://127.0.0.1:9');
    for (const media_id of ['', '..', 'a/b', 'a?b', 'x'.repeat(65)]) {
      await expect(read(download(media_id))).rejects.toMatchObject({ code: 'MEDIA_NOT_FOUND' });
    }
  });

  test('gives one partner at most its share of the downloads in progress', async () => {
    const media = await emulator.media({ phone_number_id: NUMBER, size_bytes: 5_000_000 });
    const download = from(emulator.url);
    const unread = [download(media.id), download(media.id)];
    for (const chunks of unread) await chunks.next();
    await expect(read(download(media.id))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await unread[0]?.return(undefined);
    expect((await read(download(media.id))).received_bytes).toBe(5_000_000);
    await unread[1]?.return(undefined);
  });

  test('a download that is not read gives way to a new one of its partner', async () => {
    const size_bytes = 50_000_000;
    const media = await emulator.media({ phone_number_id: NUMBER, size_bytes });
    const download = from(emulator.url);
    const [stalled, fast] = [download(media.id), download(media.id)];
    for (const chunks of [stalled, fast]) await chunks.next();
    const started_ms = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(started_ms + EVICTION_GRACE_MS);
    let fast_bytes = 0;
    while (fast_bytes < 2_000_000) {
      const { value } = await fast.next();
      fast_bytes += value?.data.length ?? size_bytes;
    }
    expect((await read(download(media.id))).received_bytes).toBe(size_bytes);
    await expect(read(stalled)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect((await fast.next()).done).toBe(false);
    await fast.return(undefined);
    jest.restoreAllMocks();
  });

  test('ends the upstream download when the caller disconnects', async () => {
    const media = await emulator.media({ phone_number_id: NUMBER, size_bytes: 50_000_000 });
    const abort = new AbortController();
    const chunks = from(emulator.url)(media.id, { signal: abort.signal });
    await chunks.next();
    await chunks.next();
    abort.abort();
    const rest = async (): Promise<void> => {
      for await (const _chunk of chunks);
    };
    await expect(rest()).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' });
  });
});

/** Answers `/v26.0/…` with a node and everything else with `file`. */
const withNode =
  (node: object, file: RequestListener): RequestListener =>
  (request, response) => {
    if (!request.url?.startsWith('/v26.0/')) return file(request, response);
    const url = `http://${request.headers.host}/file`;
    response.end(JSON.stringify({ url, mime_type: 'image/png', ...node }));
  };

test('sends the token only to allowed hosts', async () => {
  let asked = 0;
  const stranger = await http((_request, response) => {
    asked += 1;
    response.end('x');
  });
  const origin = await http(withNode({ url: `${stranger}/file` }, () => undefined));
  const refused = { ...upstreamError, retryable: false };
  await expect(read(from(origin)('1'))).rejects.toMatchObject(refused);
  expect(asked).toBe(0);
});

describe('a redirect of the upstream', () => {
  /** Redirects from `/file` to `to`, by default `/moved` of the same host. */
  const redirecting = (to = '/moved') =>
    http(
      withNode({}, (request, response) => {
        const with_token = request.headers.authorization === `Bearer ${TOKEN}`;
        if (request.url !== '/file') response.writeHead(with_token ? 200 : 401).end('bytes');
        else response.writeHead(302, { location: to }).end();
      }),
    );

  test('is followed with the token on the same host', async () => {
    expect((await read(from(await redirecting())('1'))).received_bytes).toBe(5);
  });

  test('is followed without the token to another host, within the guard', async () => {
    let headers: object | undefined;
    const other = await http((request, response) => {
      ({ headers } = request);
      response.end('other');
    });
    const origin = await redirecting(`${other}/file`);
    expect((await read(from(origin)('1'))).received_bytes).toBe(5);
    expect(headers).not.toHaveProperty('authorization');
    const guarded = from(origin, { ALLOW_PRIVATE_URLS: false })('1');
    await expect(read(guarded)).rejects.toMatchObject(upstreamError);
  });

  test('ends after five', async () => {
    const origin = await redirecting('/file');
    await expect(read(from(origin)('1'))).rejects.toMatchObject(upstreamError);
  });
});

test('requests an expired URL once more', async () => {
  let nodes = 0;
  let files = 0;
  const origin = await http((request, response) => {
    if (request.url?.startsWith('/v26.0/')) {
      nodes += 1;
      const url = `http://${request.headers.host}/file?${nodes}`;
      response.end(JSON.stringify({ url, mime_type: 'image/png' }));
      return;
    }
    files += 1;
    response.writeHead(request.url === '/file?2' ? 200 : 404).end('bytes');
  });
  const got = await read(from(origin)('1'));
  expect(got).toMatchObject({ mime_type: 'image/png', received_bytes: 5 });
  expect({ nodes, files }).toEqual({ nodes: 2, files: 2 });
  await expect(read(from(origin)('1'))).rejects.toMatchObject({ code: 'MEDIA_NOT_FOUND' });
  expect({ nodes, files }).toEqual({ nodes: 4, files: 4 });
});

test.each([
  ['code 100, subcode 33', 400, { error: { code: 100, error_subcode: 33, message: 'x' } }],
  ['code 33', 400, { error: { code: 33, message: 'x' } }],
  ['a 404 without a reason', 404, {}],
  ['a node of something else', 200, { id: '1', name: 'Example Shop' }],
])('%s is MEDIA_NOT_FOUND', async (_name, status, body) => {
  const origin = await http((_request, response) => {
    response.writeHead(status).end(JSON.stringify(body));
  });
  await expect(read(from(origin)('1'))).rejects.toMatchObject({ code: 'MEDIA_NOT_FOUND' });
});

test.each([
  [401, false],
  [302, false],
  [503, true],
])(
  'a file that is answered with HTTP %i is an upstream error, retryable: %s',
  async (status, retryable) => {
    const origin = await http(
      withNode({}, (_request, response) => response.writeHead(status).end('<html>')),
    );
    await expect(read(from(origin)('1'))).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      retryable,
    });
  },
);

test.each([
  [undefined, undefined],
  ['attachment', undefined],
  ['attachment; filename="Invoice 17.pdf"', 'Invoice 17.pdf'],
  [`inline; filename=a.pdf; filename*=UTF-8''%E4%BB%B7%E6%A0%BC.pdf`, '价格.pdf'],
  [`attachment; filename*=UTF-8''..%2F..%2Fa.pdf`, '.._.._a.pdf'],
  [`attachment; filename*=UTF-8''a%0D%0Ax-evil:%201.pdf`, undefined],
  [`attachment; filename*=UTF-8''%E2%80%AE%66dp.exe`, '_fdp.exe'],
  ['attachment; filename="a\\"; x=\\"b.html"', 'a"; x="b.html'],
  ['attachment; filename=".."', undefined],
  ['attachment; filename=""', undefined],
  [`attachment; filename="${'x'.repeat(300)}.pdf"`, `${'x'.repeat(196)}.pdf`],
  [`attachment; filename="${'x'.repeat(2_048)}"`, undefined],
  ['filename=a.pdf', undefined],
  ['attachment; filename=a b.pdf', undefined],
  [`attachment; filename*=UTF-8''%`, undefined],
])('a file with the disposition %j has the name %j', async (disposition, file_name) => {
  const origin = await http(
    withNode({}, (_request, response) => {
      if (disposition) response.setHeader('content-disposition', disposition);
      response.end('bytes');
    }),
  );
  const got = await read(from(origin)('1'));
  expect([got.file_name, got.received_bytes]).toEqual([file_name, 5]);
});

test.each([
  ['audio/ogg; codecs=opus', 'audio/ogg', 'audio/ogg; codecs=opus'],
  [undefined, 'audio/ogg', 'audio/ogg'],
  ['bad\r\nx: y', undefined, 'application/octet-stream'],
])('of types %j and %j, answers %s', async (mime_type, header, expected) => {
  const origin = await http(
    withNode({ mime_type }, (_request, response) => {
      if (header) response.setHeader('content-type', header);
      response.write('chunked');
      response.end();
    }),
  );
  await expect(read(from(origin)('1'))).resolves.toMatchObject({
    mime_type: expected,
    size_bytes: undefined,
  });
});

test('fails when the file breaks off', async () => {
  const origin = await http(
    withNode({}, (_request, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('abc');
      setTimeout(() => response.destroy(), 20);
    }),
  );
  await expect(read(from(origin)('1'))).rejects.toMatchObject(upstreamError);
});
