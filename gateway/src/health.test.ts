// What /health shows of engines that are connected and do not answer, as a stopped process is.
import { createServer, type AddressInfo, type Server } from 'node:net';
import { eventually } from '../../test/testkit/eventually';
import { log } from '../test/app';
import { createHealthMonitor, type HealthMonitor } from './health';

const NEVER = new Promise<never>(() => undefined);
const TIMES = { check_every_ms: 20, check_ms: 200, redis_silence_ms: 400 };
/** How soon a stopped engine has to show. */
const LIMIT_MS = 5_000;

let broker: Server;
let health: HealthMonitor;
let redis: { up: () => boolean; redis: { ping: () => Promise<'PONG'> } };
let bus: { check: () => Promise<void>; attended: () => Promise<void> };

beforeEach(async () => {
  redis = { up: () => true, redis: { ping: async () => 'PONG' } };
  bus = { check: async () => undefined, attended: async () => undefined };
  broker = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => broker.once('listening', resolve));
  const brokers = `127.0.0.1:${(broker.address() as AddressInfo).port}`;
  health = createHealthMonitor({}, redis, { bus, brokers }, log, TIMES);
  await health.start?.(new AbortController().signal);
});
afterEach(async () => {
  await health.stop?.();
  broker.close();
});

const dependency = (name: string): unknown =>
  (health.report().body['dependencies'] as Record<string, unknown>)[name];

test('shows what answers as ok', () =>
  eventually(() => {
    for (const name of ['redis', 'kafka', 'fanout']) {
      expect(dependency(name)).toEqual({ status: 'ok' });
    }
    return true;
  }));

test.each([
  ['redis', () => (redis.redis.ping = () => NEVER)],
  ['kafka', () => (bus.check = () => NEVER)],
  ['fanout', () => (bus.attended = () => NEVER)],
])('shows %s as down while it accepts connections and does not answer', async (name, stop) => {
  stop();
  await eventually(() => (dependency(name) as { status: string }).status === 'down', LIMIT_MS);
  expect(health.report().body['status']).not.toBe('ok');
});

test('shows Redis as down while it refuses commands, and as ok once it answers again', async () => {
  redis.redis.ping = () => Promise.reject(new Error('Command timed out'));
  await eventually(() => (dependency('redis') as { status: string }).status === 'down');
  redis.redis.ping = async () => 'PONG';
  await eventually(() => (dependency('redis') as { status: string }).status === 'ok');
});
