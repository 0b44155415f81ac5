// Uploads and downloads documents of 100 MB through real processes: byte for byte, with memory
// that does not grow with their size. Prints the memory growth of each process.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { ONE } from '../harness/world';
import { growthDuring } from '../testkit/resident-memory';
import { useProcesses, useReceivingPartner } from './use-processes';

const MB = 1_048_576;
const SIZE_BYTES = 100 * MB;
/** Files that travel at a time, so that a process that keeps them grows by 300 MiB. */
const FILES = 3;
/** Lets the heap reach its usual size, and is small beside what travels later. */
const WARM_UP_BYTES = 24 * MB;
/** V8 starts to collect buffers after 64 MiB of them, and more arrive while it marks. */
const GROWTH_MAX_MIB = 128;
const scope = { 'x-waba-id': ONE.waba_id };
const WATCHED = ['gateway', 'messaging'] as const;

const mesh = useProcesses();
const partner = useReceivingPartner(mesh);
let source: Server;

/** No two pieces are alike, so that lost or swapped bytes are detected. */
const piece = (at: number): Buffer => {
  const bytes = Buffer.alloc(65_536, seed);
  bytes.writeUInt32BE(at, 0);
  return bytes;
};
const seed = randomBytes(256);

const hashOf = (size: number): string => {
  const hash = createHash('sha256');
  for (let at = 0; at < size; at += 65_536) hash.update(piece(at));
  return hash.digest('hex');
};

beforeAll(async () => {
  source = createServer(async (asked, response) => {
    const size = Number(new URL(asked.url ?? '/', 'http://x').searchParams.get('size'));
    response.writeHead(200, { 'content-length': size, 'content-type': 'application/pdf' });
    for (let at = 0; at < size; at += 65_536) {
      if (!response.write(piece(at))) await once(response, 'drain');
    }
    response.end();
  });
  source.listen(0, '127.0.0.1');
  await once(source, 'listening');
  // Warm up once before measuring memory.
  await down((await up(WARM_UP_BYTES)).media_id);
});
afterAll(() => source?.close());

/** Uploads the file of this size; messaging fetches it from its server. */
const upload = (size: number) => {
  const { port } = source.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/report.pdf?size=${size}`;
  return partner.call('POST', '/media/upload', { url, mime_type: 'application/pdf' }, scope);
};

async function up(size: number): Promise<{ media_id: string }> {
  const answer = await upload(size);
  expect([answer.status, answer.body]).toMatchObject([201, { success: true }]);
  return answer.body as { media_id: string };
}

async function down(media_id: string) {
  const { statusCode, headers, body } = await request(`${mesh.base_url}/media/${media_id}`, {
    headers: { 'x-partner-key': partner.partner_key, ...scope },
  });
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { statusCode, type: headers['content-type'], size, sha256: hash.digest('hex') };
}

/** Expects no process to grow with the files. */
async function withoutGrowth<T>(what: string, work: () => Promise<T>): Promise<T> {
  const watched = { names: WATCHED, pid: mesh.pid };
  const { result, grown_mib } = await growthDuring(what, watched, work);
  for (const mib of grown_mib) expect(mib).toBeLessThan(GROWTH_MAX_MIB);
  return result;
}

test('uploads and downloads 100 MB unchanged, in memory that does not grow with the file', async () => {
  const files = Array.from({ length: FILES });
  const sent = await withoutGrowth('up', () => Promise.all(files.map(() => up(SIZE_BYTES))));
  const got = await withoutGrowth('down', () =>
    Promise.all(sent.map(({ media_id }) => down(media_id))),
  );
  const whole = {
    statusCode: 200,
    type: 'application/pdf',
    size: SIZE_BYTES,
    sha256: hashOf(SIZE_BYTES),
  };
  expect(got).toEqual(files.map(() => whole));
});

test('refuses one byte more, names both sizes and stores nothing', async () => {
  const since = new Date().toISOString();
  const answer = await upload(SIZE_BYTES + 65_536);
  expect([answer.status, answer.body.error]).toMatchObject([
    400,
    {
      code: 'MEDIA_TOO_LARGE',
      details: { size_bytes: SIZE_BYTES + 65_536, limit_bytes: SIZE_BYTES },
    },
  ]);
  expect(await mesh.emulator.requests({ since, path: '/media$', method: 'POST' })).toEqual([]);
});
