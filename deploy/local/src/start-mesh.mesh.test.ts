// Tests the runner of the mesh with stub servers under the services' names, in a temporary root.
// The environment names the engines, so none is started.
import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createServer, type Server } from 'node:net';
import { eventually } from '../../../test/testkit/eventually';
import { isUp } from './health';
import { freePorts, pidOf, PROCESSES, runningIn, type MeshProcessName } from './mesh';
import { readEnv } from './settings';
import { startService, up, type UpOptions } from './start-mesh';
import { down, stopSince } from './stop-mesh';

/** A stub service: listens on the given ports, answers health checks, reads orders from files. */
const STAND_IN = `
const http = require('node:http'), fs = require('node:fs'), path = require('node:path');
const folder = path.basename(path.dirname(__dirname));
const name = folder === 'dist' ? 'emulator' : folder;
const orders = (what) => fs.existsSync(path.join(process.env.ORDERS, what + '-' + name));
if (orders('die')) { console.error(name + ' cannot work'); process.exit(1); }
const answer = (request, response) => {
  response.statusCode = orders('unready') ? 503 : 200;
  response.end(JSON.stringify({ status: 'ok' }));
};
const own = { gateway: 'GATEWAY_PORT', webhooks: 'INGRESS_PORT', emulator: 'EMULATOR_PORT' };
for (const setting of name === 'emulator' ? [own[name]] : ['GRPC_PORT', 'METRICS_PORT', own[name]])
  if (process.env[setting]) http.createServer(answer).listen(process.env[setting], '127.0.0.1');
fs.appendFileSync(path.join(process.env.ORDERS, 'order'), '+' + name + '\\n');
process.on('SIGTERM', () => {
  if (orders('deaf')) return;
  fs.appendFileSync(path.join(process.env.ORDERS, 'order'), '-' + name + '\\n');
  process.exit(0);
});
`;

let root: string;
let dir: string;
let orders: string;
let lines: string[];
let ports: Record<string, string>;

const env = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  ORDERS: orders,
  MONGO_URL: 'mongodb://127.0.0.1:1',
  KAFKA_BROKERS: '127.0.0.1:1',
  REDIS_URL: 'redis://127.0.0.1:1',
  ...ports,
});
const options = (more: UpOptions = {}) => ({
  root,
  dir,
  env: env(),
  log: (line: string) => void lines.push(line),
  ...more,
});
const order = (what: string, name: string): void => {
  fs.writeFileSync(path.join(orders, `${what}-${name}`), '');
};
const withdraw = (what: string, name: string): void => {
  fs.rmSync(path.join(orders, `${what}-${name}`));
};

beforeEach(async () => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'bmg-mesh-')));
  dir = path.join(root, '.run');
  orders = path.join(root, 'orders');
  lines = [];
  fs.mkdirSync(orders);
  for (const { entry } of PROCESSES) {
    const file = path.join(root, entry);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, STAND_IN);
  }
  const preload = path.join(root, 'node_modules/@bmg/common/telemetry/register.js');
  fs.mkdirSync(path.dirname(preload), { recursive: true });
  fs.writeFileSync(preload, '');
  ports = await freePorts();
});

afterEach(async () => {
  await down({ dir, limit_ms: 200, log: () => {} });
  fs.rmSync(root, { recursive: true, force: true });
});

const kill = async (name: MeshProcessName): Promise<void> => {
  const pid = pidOf(name, dir) as number;
  process.kill(pid, 'SIGKILL');
  await eventually(() => pidOf(name, dir) === undefined);
};

test('up starts every process; later ones start those that have exited, with its settings', async () => {
  const first = await up(options());
  expect(first.started).toEqual(PROCESSES.map(({ name }) => name));
  expect(await isUp(dir)).toBe(true);
  expect(readEnv(dir)).toMatchObject({
    BASE_URL: `http://127.0.0.1:${ports['GATEWAY_PORT']}/v1`,
    MONGO_URL: 'mongodb://127.0.0.1:1',
    ONBOARDING_ADDR: ports['ONBOARDING_ADDR'],
  });
  const before = pidOf('gateway', dir);

  await kill('messaging');
  // Another shell lacks the settings of the first `up`.
  const bare = { env: { PATH: process.env['PATH'], ORDERS: orders } };
  const second = await up(options(bare));
  expect(second.started).toEqual(['messaging']);
  expect(second.settings).toEqual(first.settings);
  expect(pidOf('gateway', dir)).toBe(before);

  await kill('onboarding');
  await startService('onboarding', options(bare));
  const third = await up(options({ env: { ...env(), LOG_LEVEL: 'debug' } }));
  expect([third.started, third.settings['LOG_LEVEL']]).toEqual([[], 'info']);
  expect(lines.at(-1)).toBe(
    'the running mesh keeps its settings LOG_LEVEL: run make down first to change them',
  );
});

test('names a process that exits during the start, with its last log lines', async () => {
  order('die', 'templates');
  await expect(up(options())).rejects.toThrow(
    /^templates has exited; the last lines of .*templates\.log:\n  templates cannot work$/,
  );
  withdraw('die', 'templates');
  expect((await up(options())).started).toEqual(['templates']);
});

test('names the processes that are not ready at the time limit', async () => {
  order('unready', 'webhooks');
  await expect(up(options({ health_limit_ms: 1_500 }))).rejects.toThrow(
    /^not ready after 2 s: webhooks \(\/readyz answers 503\); the last lines of /,
  );
});

test('names the setting of a taken port and starts nothing', async () => {
  const server = await new Promise<Server>((resolve) => {
    const listener = createServer().listen(Number(ports['INGRESS_PORT']), '127.0.0.1', () =>
      resolve(listener),
    );
  });
  await expect(up(options())).rejects.toThrow(
    `port ${ports['INGRESS_PORT']} (webhooks) is taken by another program: stop it, or set INGRESS_PORT`,
  );
  expect(runningIn(dir)).toEqual([]);
  await new Promise((resolve) => server.close(resolve));
});

test('down stops callers first and kills processes that ignore SIGTERM', async () => {
  await up(options());
  fs.rmSync(path.join(orders, 'order'));
  order('deaf', 'number-admin');
  const stopped = await down({ dir, limit_ms: 1_000, log: (line) => void lines.push(line) });
  expect([...stopped].sort()).toEqual(PROCESSES.map(({ name }) => name).sort());
  const seen = fs.readFileSync(path.join(orders, 'order'), 'utf8').trim().split('\n');
  expect(seen[0]).toBe('-gateway');
  expect(seen.at(-1)).toBe('-emulator');
  expect(lines.at(-1)).toMatch(/^number-admin \(pid \d+\) did not stop within 1 s: killed$/);
  expect(fs.readdirSync(dir).filter((name) => !name.endsWith('.log'))).toEqual([]);
});

test('logs which processes are ready while it waits for the others', async () => {
  order('unready', 'templates');
  const starting = up(options());
  await eventually(() => lines.some((line) => /^started .*gateway/.test(line)));
  await eventually(() => lines.some((line) => /^ready: .*messaging.* \(\d+ of \d+\)$/.test(line)));
  expect(lines.filter((line) => line.startsWith('ready')).join()).not.toContain('templates');
  withdraw('unready', 'templates');
  await starting;
});

test('an interrupted command stops only the processes that it has started', async () => {
  await up(options());
  await kill('messaging');
  const before = runningIn(dir);
  order('unready', 'messaging');
  const starting = up(options()).catch(() => undefined);
  await eventually(() => pidOf('messaging', dir) !== undefined);
  await stopSince(before, { dir, log: () => {} });
  await starting;
  expect(runningIn(dir)).toEqual(before);
});
