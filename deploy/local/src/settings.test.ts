import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  formatEnv,
  ignoredNames,
  joinEngines,
  joinSettings,
  parseEnv,
  readEnv,
  writeEnv,
} from './settings';
import { meshSettings } from './mesh';

let dir: string;
beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), 'bmg-settings-'));
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

test('the settings file is read back unchanged, and only its owner can read it', () => {
  const settings = { B: 'x=y=z', A: 'http://a/?b=c#d', EMPTY: '' };
  writeEnv(dir, settings);
  expect(readEnv(dir)).toEqual(settings);
  expect(fs.readFileSync(path.join(dir, 'env'), 'utf8')).toBe(
    'A=http://a/?b=c#d\nB=x=y=z\nEMPTY=\n',
  );
  expect(fs.statSync(path.join(dir, 'env')).mode & 0o777).toBe(0o600);
  expect(fs.readdirSync(dir)).toEqual(['env']);
});

test('leaves multi-line values out of the file and skips comments', () => {
  expect(formatEnv({ A: '1', KEY: 'two\nlines' })).toBe('A=1\n');
  expect(parseEnv('# note\n\nA=1\nnonsense\n')).toEqual({ A: '1' });
  expect(readEnv(path.join(dir, 'none'))).toEqual({});
});

test('a process added to a running mesh gets its settings, and defaults for new ones', () => {
  const recorded: Record<string, string> = meshSettings({ GATEWAY_PORT: '18080' });
  const joined = joinSettings({ GATEWAY_PORT: '9999', LOG_LEVEL: 'debug' }, recorded);
  expect(joined).toEqual(recorded);
  expect(ignoredNames({ GATEWAY_PORT: '9999', LOG_LEVEL: 'info' }, recorded)).toEqual([
    'GATEWAY_PORT',
  ]);
  delete recorded['RATE_LIMIT_PER_SEC'];
  expect(joinSettings({}, recorded)['RATE_LIMIT_PER_SEC']).toBe('200');
});

test('a mesh started with its own upstream gets no emulator later', () => {
  const recorded = meshSettings({ UPSTREAM_URL: 'https://upstream.example' });
  expect(joinSettings({}, recorded)).toEqual(recorded);
});

test('starting only the engines records no other settings of the mesh', () => {
  const recorded = { MONGO_URL: 'mongodb://127.0.0.1:27017' };
  expect(joinSettings({ GATEWAY_PORT: '18080' }, recorded)['BASE_URL']).toBe(
    'http://127.0.0.1:18080/v1',
  );
});

test('restarts our engine on its port and keeps the address of an external one', () => {
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
