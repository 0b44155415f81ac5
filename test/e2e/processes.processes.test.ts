// Processes that are stopped, killed and restarted: no answered request is lost or duplicated.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@bmg/local';
import { eventually } from '../testkit/eventually';
import { forward } from '../testkit/forwarder';
import { ONE } from '../harness/world';
import { joinProcessMesh, type ProcessMesh, type ProcessPartner } from '../harness/process-mesh';
import { startPartner, type PartnerReceiver } from '../testkit/partner';
import { expectConsistent, loadOf } from './load-support';

const ROOT = resolve(__dirname, '../..');
const scope = { 'x-waba-id': ONE.waba_id };
const DOWN_MS = 300;
let mesh: ProcessMesh;
let receiver: PartnerReceiver;
let partner: ProcessPartner;

beforeAll(async () => {
  receiver = await startPartner();
  mesh = await joinProcessMesh();
  await mesh.emulator.limits({ rate_per_sec: 'off' });
  partner = await mesh.createPartner(receiver.url);
  await partner.register();
});
afterAll(async () => {
  await mesh.stop();
  await receiver.close();
});

test('loses and duplicates no message record when messaging is killed under load', async () => {
  const load = loadOf(partner, 5);
  await load.untilServed(30);
  await mesh.kill('messaging');
  // The load continues while messaging is down.
  await sleep(DOWN_MS);
  await mesh.start('messaging');
  await load.untilServed(30);
  const outcomes = await load.stop();
  for (const { answer } of outcomes) {
    // Failed requests got an error of the gateway.
    if (answer && answer.status !== 200) expect([500, 502, 503]).toContain(answer.status);
  }
  await expectConsistent(mesh, outcomes);
});

test.each(['messaging', 'onboarding'] as const)(
  'drains %s under load, and callers wait until it is back',
  async (name) => {
    const load = loadOf(partner, 5);
    await load.untilServed(30);
    await mesh.terminate(name);
    await mesh.start(name);
    await load.untilServed(30);
    const outcomes = await load.stop();
    const unserved = outcomes.filter(({ answer }) => answer?.status !== 200);
    // A single replica is unreachable while it starts, which is longer than callers wait.
    for (const { answer } of unserved) expect(answer?.body.error.code).toBe('SERVICE_UNAVAILABLE');
    await expectConsistent(mesh, outcomes);
  },
);

test('drains the gateway under load without cutting off an answer', async () => {
  const load = loadOf(partner, 5);
  await load.untilServed(50);
  await mesh.terminate('gateway');
  const outcomes = await load.stop();
  await mesh.start('gateway');
  const answered = outcomes.filter(({ answer }) => answer !== undefined);
  expect(answered.every(({ answer }) => answer?.status === 200)).toBe(true);
  // Requests without an answer were refused a connection: none of them was sent.
  const silent = outcomes.filter(({ answer }) => answer === undefined).map(({ to }) => to);
  const sent = (await mesh.emulator.messages({ limit: 100_000 })).map(({ to }) => to);
  expect(silent.filter((to) => sent.includes(to))).toEqual([]);
  await expectConsistent(mesh, outcomes);
});

test('keeps a deleted client deleted when onboarding is killed', async () => {
  const leaving = await mesh.createPartner(receiver.url, 'Leaving');
  await leaving.register();
  expect((await leaving.call('DELETE', `/clients/${ONE.waba_id}`)).status).toBe(200);
  await mesh.kill('onboarding');
  await mesh.start('onboarding');
  const { body } = await leaving.call(
    'POST',
    '/messages/send',
    { to: '15550100777', text: 'x' },
    scope,
  );
  expect(body.error.code).toBe('WABA_NOT_REGISTERED');
  expect((await partner.call('GET', '/clients')).body.total).toBe(1);
});

describe('a service started by itself', () => {
  const start = (env: Record<string, string>) => {
    const main = join(ROOT, 'services/messaging/dist/main.js');
    const child = spawn(process.execPath, ['--require', '@bmg/common/telemetry/register', main], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'] ?? '', GRPC_PORT: '0', ...env },
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    return { child, output: () => output };
  };

  test('waits for its engines, logs that it waits, and works once they are up', async () => {
    const ports = await Promise.all(Array.from({ length: 5 }, freePort));
    const [metrics, mongo, kafka, redis, nowhere] = ports as [
      number,
      number,
      number,
      number,
      number,
    ];
    const { child, output } = start({
      METRICS_PORT: String(metrics),
      MONGO_URL: `mongodb://127.0.0.1:${mongo}/?directConnection=true`,
      MONGO_DATABASE_PREFIX: mesh.settings['MONGO_DATABASE_PREFIX'] as string,
      KAFKA_BROKERS: `127.0.0.1:${kafka}`,
      KAFKA_TOPIC_PREFIX: `late-${Date.now()}.`,
      REDIS_URL: `redis://127.0.0.1:${redis}`,
      ONBOARDING_ADDR: `127.0.0.1:${nowhere}`,
      UPSTREAM_URL: `http://127.0.0.1:${nowhere}`,
    });
    const ready = async (): Promise<number> =>
      (await fetch(`http://127.0.0.1:${metrics}/readyz`)).status;
    await eventually(() => output().includes('waiting for MongoDB'));
    expect((await fetch(`http://127.0.0.1:${metrics}/livez`)).status).toBe(200);
    expect(await ready()).toBe(503);
    expect(await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()).toContain(
      'process_cpu_seconds_total',
    );
    const engines = [
      await forward(mongo, new URL(process.env['MONGO_URL'] as string).host),
      await forward(kafka, process.env['KAFKA_BROKERS'] as string),
      await forward(redis, new URL(process.env['REDIS_URL'] as string).host),
    ];
    await eventually(async () => (await ready()) === 200);
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(0);
    await Promise.all(engines.map((engine) => engine.close()));
  });

  test('stops on request while it waits for its engines', async () => {
    const nowhere = await freePort();
    const { child, output } = start({
      METRICS_PORT: '0',
      MONGO_URL: `mongodb://127.0.0.1:${nowhere}`,
      KAFKA_BROKERS: `127.0.0.1:${nowhere}`,
      REDIS_URL: `redis://127.0.0.1:${nowhere}`,
      ONBOARDING_ADDR: `127.0.0.1:${nowhere}`,
      UPSTREAM_URL: `http://127.0.0.1:${nowhere}`,
    });
    await eventually(() => output().includes('waiting for MongoDB'));
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(0);
  });
});
