import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSpool, FILES_OF_PARTNER, type SpooledFile } from './spool';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'spool-'))));
afterEach(() => rmSync(folder, { recursive: true }));

async function* source(...pieces: (Buffer | Error)[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece;
    yield piece;
  }
}

async function contentOf(file: SpooledFile): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

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
  expect((await contentOf(file)).equals(many)).toBe(true);
  expect((await contentOf(file)).equals(many)).toBe(true);
  expect(spool.used()).toEqual({ files: 1, bytes: 300_000 });
  await file.close();
  await file.close();
  expect(spool.used()).toEqual({ files: 0, bytes: 0 });
});

test('leaves no visible file in the folder, even during a transfer', async () => {
  const file = await createSpool(1_000, folder).take(source(Buffer.from('abc')), A);
  expect(readdirSync(folder)).toEqual([]);
  await file.close();
});

test('frees the space of a broken source', async () => {
  const spool = createSpool(1_000, folder);
  const broken = new Error('broken');
  await expect(spool.take(source(Buffer.from('abc'), broken), A)).rejects.toBe(broken);
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

test('a partner has a share of the files', async () => {
  const spool = createSpool(1_000, folder);
  const take = (partner_id: string) => spool.take(source(Buffer.alloc(1)), partner_id);
  const files = await Promise.all(Array.from({ length: FILES_OF_PARTNER }, () => take(A)));
  await expect(take(A)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  files.push(await take(B));
  await Promise.all(files.map((file) => file.close()));
});

test('a folder that cannot be written is an internal error', async () => {
  const spool = createSpool(100, join(folder, 'missing'));
  await expect(spool.take(source(Buffer.alloc(1)), A)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(spool.used()).toEqual({ files: 0, bytes: 0 });
});
