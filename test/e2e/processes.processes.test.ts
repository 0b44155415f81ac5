// Processes that are stopped, killed and restarted: no answered request is lost or duplicated.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@bmg/local';
import { eventually } from '../testkit/eventually';
import { forward } from '../testkit/forwarder';
import { ONE } from '../harness/world';
import { expectConsistent, loadOf } from './load-support';
import { useProcesses, useReceivingPartner } from './use-processes';

const ROOT = resolve(__dirname, '../..');
const scope = { 'x-waba-id': ONE.waba_id };
const DOWN_MS = 300;

const mesh = useProcesses();
const partner = useReceivingPartner(mesh);
beforeAll(() => mesh.emulator.limits({ rate_per_sec: 'off' }));

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
  const leaving = await mesh.createPartner(partner.receiver.url, 'Leaving');
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
  /** Starts messaging with engines at these ports; nothing listens at the others. */
  const start = async (ports: { metrics: number; mongo: number; kafka: number; redis: number }) => {
    const nowhere = await freePort();
    const main = join(ROOT, 'services/messaging/dist/main.js');
    const child = spawn(process.execPath, ['--require', '@bmg/common/telemetry/register', main], {
      cwd: ROOT,
      env: {
        PATH: process.env['PATH'] ?? '',
        GRPC_PORT: '0',
        METRICS_PORT: String(ports.metrics),
        MONGO_URL: `mongodb://127.0.0.1:${ports.mongo}/?directConnection=true`,
        MONGO_DATABASE_PREFIX: mesh.settings['MONGO_DATABASE_PREFIX'] as string,
        KAFKA_BROKERS: `127.0.0.1:${ports.kafka}`,
        KAFKA_TOPIC_PREFIX: `late-${Date.now()}.`,
        REDIS_URL: `redis://127.0.0.1:${ports.redis}`,
        ONBOARDING_ADDR: `127.0.0.1:${nowhere}`,
        UPSTREAM_URL: `http://127.0.0.1:${nowhere}`,
      },
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    await eventually(() => output.includes('waiting for MongoDB'));
    return {
      async expectStops() {
        child.kill('SIGTERM');
        const [code] = (await once(child, 'exit')) as [number];
        expect(code).toBe(0);
      },
    };
  };
  const freePorts = async () => ({
    metrics: await freePort(),
    mongo: await freePort(),
    kafka: await freePort(),
    redis: await freePort(),
  });

  test('waits for its engines, logs that it waits, and works once they are up', async () => {
    const ports = await freePorts();
    const { expectStops } = await start(ports);
    const get = (path: string) => fetch(`http://127.0.0.1:${ports.metrics}${path}`);
    expect((await get('/livez')).status).toBe(200);
    expect((await get('/readyz')).status).toBe(503);
    expect(await (await get('/metrics')).text()).toContain('process_cpu_seconds_total');
    const engines = [
      await forward(ports.mongo, new URL(process.env['MONGO_URL'] as string).host),
      await forward(ports.kafka, process.env['KAFKA_BROKERS'] as string),
      await forward(ports.redis, new URL(process.env['REDIS_URL'] as string).host),
    ];
    await eventually(async () => (await get('/readyz')).status === 200);
    await expectStops();
    await Promise.all(engines.map((engine) => engine.close()));
  });

  test('stops on request while it waits for its engines', async () => {
    const { expectStops } = await start(await freePorts());
    await expectStops();
  });
});
