import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { readZipEntry } from './zip';

/**
 * A zip as a jar tool writes it: extra fields of different lengths in the two places, and a comment
 * at the end.
 */
function zipOf(files: Array<{ name: string; data: Buffer; packed: boolean }>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, data, packed } of files) {
    const body = packed ? deflateRawSync(data) : data;
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    local.writeUInt16LE(7, 28);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(packed ? 8 : 0, 10);
    entry.writeUInt32LE(body.length, 20);
    entry.writeUInt32LE(data.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt16LE(3, 30);
    entry.writeUInt32LE(offset, 42);
    const written = Buffer.concat([local, Buffer.from(name), Buffer.alloc(7), body]);
    parts.push(written);
    directory.push(entry, Buffer.from(name), Buffer.alloc(3));
    offset += written.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(7, 20);
  return Buffer.concat([...parts, listed, end, Buffer.from('comment')]);
}

test('reads compressed and stored entries, and names a missing one', () => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'bmg-zip-'));
  const file = path.join(dir, 'some.jar');
  const data = Buffer.from('binary '.repeat(10_000));
  fs.writeFileSync(
    file,
    zipOf([
      { name: 'META-INF/x', data: Buffer.from('plain'), packed: false },
      { name: 'redis-server', data, packed: true },
    ]),
  );
  expect(readZipEntry(file, 'META-INF/x').toString()).toBe('plain');
  expect(readZipEntry(file, 'redis-server').equals(data)).toBe(true);
  expect(() => readZipEntry(file, 'redis')).toThrow(`${file} has no entry redis`);
  fs.writeFileSync(file, 'no zip at all, but longer than an end record');
  expect(() => readZipEntry(file, 'redis')).toThrow('not a zip file');
  fs.rmSync(dir, { recursive: true });
});
