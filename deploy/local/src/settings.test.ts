import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { formatEnv, parseEnv, readEnv, writeEnv } from './env-file';
import { meshSettings } from './mesh';
import { ignoredNames, joinEngines, joinSettings } from './settings';

let dir: string;
beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), 'bmg-settings-'));
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

test('the file of settings is read as it was written, and only by its owner', () => {
  const settings = { B: 'x=y=z', A: 'http://a/?b=c#d', EMPTY: '' };
  writeEnv(dir, settings);
  expect(readEnv(dir)).toEqual(settings);
  expect(fs.readFileSync(path.join(dir, 'env'), 'utf8')).toBe(
    'A=http://a/?b=c#d\nB=x=y=z\nEMPTY=\n',
  );
  expect(fs.statSync(path.join(dir, 'env')).mode & 0o777).toBe(0o600);
  expect(fs.readdirSync(dir)).toEqual(['env']);
});

test('a value of several lines stays out of the file, comments are skipped', () => {
  expect(formatEnv({ A: '1', KEY: 'two\nlines' })).toBe('A=1\n');
  expect(parseEnv('# note\n\nA=1\nnonsense\n')).toEqual({ A: '1' });
  expect(readEnv(path.join(dir, 'none'))).toEqual({});
});

test('what joins a running mesh gets its settings, and new ones their defaults', () => {
  const recorded: Record<string, string> = meshSettings({ GATEWAY_PORT: '18080' });
  const joined = joinSettings({ GATEWAY_PORT: '9999', LOG_LEVEL: 'debug' }, recorded);
  expect(joined).toEqual(recorded);
  expect(ignoredNames({ GATEWAY_PORT: '9999', LOG_LEVEL: 'info' }, recorded)).toEqual([
    'GATEWAY_PORT',
  ]);
  delete recorded['RATE_LIMIT_PER_SEC'];
  expect(joinSettings({}, recorded)['RATE_LIMIT_PER_SEC']).toBe('200');
});

test('a mesh with an upstream of its own gets no emulator later', () => {
  const recorded = meshSettings({ UPSTREAM_URL: 'https://upstream.example' });
  expect(joinSettings({}, recorded)).toEqual(recorded);
});

test('engines alone leave the mesh’s other settings open', () => {
  const recorded = { MONGO_URL: 'mongodb://127.0.0.1:27017' };
  expect(joinSettings({ GATEWAY_PORT: '18080' }, recorded)['BASE_URL']).toBe(
    'http://127.0.0.1:18080/v1',
  );
});

test('an engine of ours comes back on its port, one from outside stays where it was', () => {
  fs.writeFileSync(path.join(dir, 'mongo.port'), '28017\n');
  fs.writeFileSync(path.join(dir, 'redis.port'), '6379\n');
  const recorded = {
    MONGO_URL: 'mongodb://127.0.0.1:28017',
    REDIS_URL: 'redis://redis.example:6379',
  };
  const env = { MONGO_URL: 'mongodb://elsewhere', KAFKA_BROKERS: 'kafka:9092' };
  expect(joinEngines(dir, env, recorded)).toEqual({
    env: { REDIS_URL: 'redis://redis.example:6379', KAFKA_BROKERS: 'kafka:9092' },
    ports: { mongo: 28_017 },
  });
});
