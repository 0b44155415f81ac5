import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../../../test/testkit/eventually';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { EVICTION_GRACE_MS } from '../overload';
import { createSpool, FILES_OF_PARTNER } from './spool';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'spool-'))));
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

async function* chunksOf(pieces: (Buffer | Error)[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece;
    yield piece;
  }
}
/** Opens a source of these pieces. */
const source =
  (...pieces: (Buffer | Error)[]) =>
  async () =>
    chunksOf(pieces);

const A = 'ptn_a';
const B = 'ptn_b';
const many = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));

test('returns the stored bytes with their size and beginning', async () => {
  const spool = createSpool(1_000_000, folder);
  const file = await spool.take(
    source(many.subarray(0, 10), many.subarray(10, 50), many.subarray(50)),
    A,
  );
  expect(file.size_bytes).toBe(300_000);
  expect(file.head.equals(many.subarray(0, 64))).toBe(true);
  for (let read = 0; read < 2; read += 1) {
    expect((await buffer(file.chunks())).equals(many)).toBe(true);
  }
  expect(spool.used()).toEqual({ files: 1, bytes: 300_000 });
  await file.close();
  await file.close();
  expect(spool.used()).toEqual({ files: 0, bytes: 0 });
});

test('opens a source only once there is room for it in the share of its partner', async () => {
  const spool = createSpool(1_000, folder);
  const files = await Promise.all(
    Array.from({ length: FILES_OF_PARTNER }, () => spool.take(source(Buffer.alloc(1)), A)),
  );
  const open = jest.fn(source(Buffer.alloc(1)));
  await expect(spool.take(open, A)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(open).not.toHaveBeenCalled();
  files.push(await spool.take(source(Buffer.alloc(1)), B));
  await files[0]?.close();
  const file = await spool.take(open, A);
  expect(open).toHaveBeenCalledTimes(1);
  await Promise.all([...files, file].map((one) => one.close()));
  expect(spool.used()).toEqual({ files: 0, bytes: 0 });
});

test('leaves no visible file in the folder, even during a transfer', async () => {
  const file = await createSpool(1_000, folder).take(source(Buffer.from('abc')), A);
  expect(readdirSync(folder)).toEqual([]);
  await file.close();
});

const broken = new Error('broken');
test.each<[string, Parameters<ReturnType<typeof createSpool>['take']>[0]]>([
  ['does not open', () => Promise.reject(broken)],
  ['breaks after its first bytes', source(Buffer.from('abc'), broken)],
  [
    'breaks as soon as it is open',
    async () => {
      const stream = new Readable({ read: () => undefined });
      setImmediate(() => stream.destroy(broken));
      return stream;
    },
  ],
])('rethrows the error of a source that %s, and frees its space', async (_name, open) => {
  const spool = createSpool(1_000, folder);
  await expect(spool.take(open, A)).rejects.toBe(broken);
  expect(spool.used()).toEqual({ files: 0, bytes: 0 });
});

test('limits the total size of files and frees it again', async () => {
  const spool = createSpool(100, folder);
  const first = await spool.take(source(Buffer.alloc(60)), A);
  await expect(spool.take(source(Buffer.alloc(30), Buffer.alloc(30)), A)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retryable: true,
    retry_after_s: 5,
  });
  expect(spool.used()).toEqual({ files: 1, bytes: 60 });
  await first.close();
  const second = await spool.take(source(Buffer.alloc(100)), A);
  await second.close();
});

test('a partner has a share of the disk space, beside which another one has its own', async () => {
  const spool = createSpool(100, folder, 50);
  const first = await spool.take(source(Buffer.alloc(50)), A);
  await expect(spool.take(source(Buffer.alloc(1)), A)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
  });
  const other = await spool.take(source(Buffer.alloc(50)), B);
  await first.close();
  const again = await spool.take(source(Buffer.alloc(50)), A);
  await Promise.all([other, again].map((file) => file.close()));
  expect(spool.used()).toEqual({ files: 0, bytes: 0 });
});

describe('files that arrive slowly', () => {
  const NEVER = { read: () => undefined };
  const later = () => {
    const now_ms = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => now_ms + EVICTION_GRACE_MS);
  };
  const tooSlow = {
    code: 'SERVICE_UNAVAILABLE',
    message: expect.stringContaining('arrived too slowly'),
    retryable: true,
  };

  test('make room for a new one, and are ended', async () => {
    const spool = createSpool(1_000, folder);
    const sources = Array.from({ length: FILES_OF_PARTNER }, () => new Readable(NEVER));
    let opened = 0;
    const stalled = sources.map((one) =>
      spool.take(async () => {
        opened += 1;
        return one;
      }, A),
    );
    await eventually(() => opened === sources.length);
    const outcomes = Promise.allSettled(stalled);
    await expect(spool.take(source(Buffer.alloc(1)), A)).rejects.toMatchObject({
      message: expect.stringContaining('too many files'),
    });
    later();
    const file = await spool.take(source(Buffer.alloc(1)), A);
    await expect(stalled[0]).rejects.toMatchObject(tooSlow);
    expect(sources.filter(({ destroyed }) => destroyed)).toHaveLength(1);
    expect(spool.used()).toEqual({ files: FILES_OF_PARTNER, bytes: 1 });
    await file.close();
    for (const one of sources) one.destroy(new Error('over'));
    await outcomes;
    expect(spool.used()).toEqual({ files: 0, bytes: 0 });
  });

  test('make room on the disk, also when the file that needs it is one of them', async () => {
    const spool = createSpool(100, folder, 100);
    const first = new Readable(NEVER);
    const second = new Readable(NEVER);
    const [of_first, of_second] = [
      spool.take(async () => first, A),
      spool.take(async () => second, B),
    ];
    const outcomes = Promise.allSettled([of_first, of_second]);
    first.push(Buffer.alloc(60));
    await eventually(() => spool.used().bytes === 60);
    later();
    second.push(Buffer.alloc(101));
    await expect(of_second).rejects.toMatchObject(tooSlow);
    first.destroy(new Error('over'));
    await outcomes;
    expect(spool.used()).toEqual({ files: 0, bytes: 0 });
  });
});

test('a folder that cannot be written is an internal error', async () => {
  const spool = createSpool(100, join(folder, 'missing'));
  await expect(spool.take(source(Buffer.alloc(1)), A)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(spool.used()).toEqual({ files: 0, bytes: 0 });
});
