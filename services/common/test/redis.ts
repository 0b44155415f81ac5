// For a test file: a connection to Redis with keys of its own, and one to a Redis that is down.
import { randomBytes } from 'node:crypto';
import { openRedis, type RedisConnection } from '../src/redis';
import { createLogger } from '../src/telemetry';

export function useRedis() {
  const REDIS_KEY_PREFIX = `t${randomBytes(5).toString('hex')}:`;
  const log = createLogger('test');
  log.level = 'silent';
  const open = (REDIS_URL: string): RedisConnection =>
    openRedis({ REDIS_URL, REDIS_KEY_PREFIX }, log);
  const shared = open(process.env['REDIS_URL'] as string);
  const down = open('redis://127.0.0.1:9');
  beforeAll(() => shared.start(new AbortController().signal));
  afterAll(async () => {
    await shared.stop();
    await down.stop();
  });
  return { shared, down, log };
}
