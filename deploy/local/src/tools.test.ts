import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describeMesh, hideSecrets, meshSettings } from './mesh';
import { findJava, findProgram, parseJavaMajor } from './tools';

const WANTED = { what: 'the local Kafka', instead: 'set KAFKA_BROKERS' };

let bin: string;
beforeEach(() => {
  bin = fs.mkdtempSync(path.join(os.tmpdir(), 'bmg-tools-'));
});
afterEach(() => fs.rmSync(bin, { recursive: true, force: true }));

const program = (name: string, script: string, mode = 0o755): string => {
  const file = path.join(bin, name);
  fs.writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode });
  return file;
};

test('finds a program on the PATH when it is executable', () => {
  const file = program('mongod', '');
  program('redis-server', '', 0o644);
  fs.mkdirSync(path.join(bin, 'java'));
  const env = { PATH: `/nowhere${path.delimiter}${path.delimiter}${bin}` };
  expect(findProgram('mongod', env)).toBe(file);
  expect(findProgram('redis-server', env)).toBeUndefined();
  expect(findProgram('java', env)).toBeUndefined();
  expect(findProgram('mongod', {})).toBeUndefined();
});

test.each([
  ['openjdk version "17.0.15" 2025-04-15', 17],
  ['java version "1.8.0_392"', 8],
  ['openjdk version "21" 2023-09-19', 21],
  ['openjdk version "25-ea" 2025-09-16', 25],
  ['no runtime present', undefined],
])('reads the Java version of %j as %s', (text, major) => {
  expect(parseJavaMajor(text)).toBe(major);
});

test('the error about a missing or old Java names the remedy', async () => {
  const line = 'install a JDK, or set KAFKA_BROKERS';
  await expect(findJava({ PATH: bin }, WANTED)).rejects.toThrow(
    `Java 17 or newer is needed for the local Kafka: ${line}`,
  );
  program('java', 'echo \'openjdk version "11.0.2"\' >&2');
  await expect(findJava({ PATH: bin }, WANTED)).rejects.toThrow(
    `Java 17 or newer is needed for the local Kafka (found: Java 11): ${line}`,
  );
  const java = program('java', 'echo \'openjdk version "21.0.2"\' >&2');
  expect(await findJava({ PATH: bin }, WANTED)).toBe(java);
});

test('masks the password in an address', () => {
  expect(hideSecrets('mongodb://me:secret@db.example/x')).toBe('mongodb://***@db.example/x');
  expect(hideSecrets('redis://127.0.0.1:6379')).toBe('redis://127.0.0.1:6379');
});

test('warns of the public default secrets, and only of those', () => {
  const last = (env: NodeJS.ProcessEnv) => describeMesh(meshSettings(env)).at(-1);
  expect(last({})).toContain('ENCRYPTION_KEYRING, EVENT_LOG_KEYRING, KEY_PEPPER are public');
  expect(last({ KEY_PEPPER: 'mine' })).not.toContain('KEY_PEPPER');
});
