import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { zipSync } from 'fflate';
import { readJar } from './jars';

test('reads compressed and stored entries, and names a missing one', () => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'bmg-zip-'));
  const file = path.join(dir, 'some.jar');
  const data = Buffer.from('binary '.repeat(10_000));
  const zip = zipSync(
    {
      'META-INF': { x: [Buffer.from('plain'), { level: 0 }] },
      'redis-server': [data, { extra: { 0x7075: Buffer.from('extra') } }],
    },
    { comment: 'comment' },
  );
  fs.writeFileSync(file, zip);
  expect(Buffer.from(readJar(dir, 'some', 'META-INF/x')).toString()).toBe('plain');
  expect(Buffer.from(readJar(dir, 'some', 'redis-server')).equals(data)).toBe(true);
  expect(() => readJar(dir, 'some', 'redis')).toThrow(`${file} has no entry redis`);
  fs.writeFileSync(file, 'no zip at all, but longer than an end record');
  expect(() => readJar(dir, 'some', 'redis')).toThrow('invalid zip data');
  fs.rmSync(dir, { recursive: true });
});
