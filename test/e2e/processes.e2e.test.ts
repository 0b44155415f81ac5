// Processes that are stopped, killed and started again: nothing that was answered is lost or doubled.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient, type Document } from 'mongodb';
import { freePort } from '@bmg/local';
import { eventually } from '../harness/eventually';
import { ONE, type Answer } from '../harness/mesh-types';
import { startProcessMesh, type ProcessMesh, type ProcessPartner } from '../harness/process-mesh';
import { startPartner, type PartnerReceiver } from '../partner';

const ROOT = resolve(__dirname, '../..');
const scope = { 'x-waba-id': ONE.waba_id };
let mesh: ProcessMesh;
let receiver: PartnerReceiver;
let partner: ProcessPartner;

beforeAll(async () => {
  receiver = await startPartner();
  mesh = await startProcessMesh();
  await mesh.emulator.limits({ rate_per_sec: 'off' });
  partner = await mesh.createPartner(receiver.url);
  await partner.register();
}, 120_000);
afterAll(async () => {
  await mesh.stop();
  await receiver.close();
}, 60_000);

interface Outcome {
  to: string;
  answer: Answer | undefined;
}

interface Load {
  /** Waits for so many more answers: how long that takes is the machine's to say. */
  untilServed(more: number): Promise<void>;
  stop(): Promise<Outcome[]>;
}

const SERVED_LIMIT_MS = 30_000;
let contact = 15_550_400_000;

/** Sends every few milliseconds, each to a contact of its own, until told to stop. */
function loadOf(every_ms: number): Load {
  const outcomes: Promise<Outcome>[] = [];
  let on = true;
  let served = 0;
  const turning = (async () => {
    while (on) {
      const to = String((contact += 1));
      outcomes.push(
        partner.call('POST', '/messages/send', { to, text: 'Under load' }, scope).then(
          (answer) => {
            if (answer.status === 200) served += 1;
            return { to, answer };
          },
          () => ({ to, answer: undefined }),
        ),
      );
      await sleep(every_ms);
    }
  })();
  return {
    async untilServed(more) {
      const enough = served + more;
      await eventually(() => served >= enough, SERVED_LIMIT_MS);
    },
    async stop() {
      on = false;
      await turning;
      return Promise.all(outcomes);
    },
  };
}

async function recordsOf(recipients: string[]): Promise<Document[]> {
  const client = await MongoClient.connect(process.env['MONGO_URL'] as string);
  try {
    const database = `${mesh.settings['MONGO_DATABASE_PREFIX'] ?? ''}messaging`;
    return await client
      .db(database)
      .collection('messages')
      .find({ recipient: { $in: recipients } })
      .toArray();
  } finally {
    await client.close();
  }
}

/** Every message that went out was sent once and has one record; every success is among them. */
async function expectConsistent(outcomes: Outcome[]): Promise<void> {
  const recipients = outcomes.map(({ to }) => to);
  const sent = (await mesh.emulator.messages({ limit: 100_000 })).filter(({ to }) =>
    recipients.includes(to ?? ''),
  );
  expect(new Set(sent.map(({ to }) => to)).size).toBe(sent.length);
  const ids = sent.map(({ id }) => id).sort();
  const answered = outcomes
    .filter(({ answer }) => answer?.status === 200)
    .map(({ answer }) => answer?.body.message_id as string);
  expect(ids).toEqual(expect.arrayContaining(answered));
  // What a crash cut off between the send and its record, the status events have rebuilt.
  await eventually(async () => {
    const records = await recordsOf(recipients);
    expect(records.map((record) => record['message_id'] as string).sort()).toEqual(ids);
    return true;
  }, 30_000);
}

test('a kill of messaging under load loses and doubles no message record', async () => {
  const load = loadOf(5);
  await load.untilServed(30);
  await mesh.kill('messaging');
  await sleep(300);
  await mesh.start('messaging');
  await load.untilServed(30);
  const outcomes = await load.stop();
  for (const { answer } of outcomes) {
    // Whoever was not served got an answer of ours, and is not told to repeat what may have been sent.
    if (answer && answer.status !== 200) expect([500, 502, 503]).toContain(answer.status);
  }
  await expectConsistent(outcomes);
}, 120_000);

test.each(['messaging', 'onboarding'] as const)(
  'a stop of %s under load ends what is under way, and the callers wait for its return',
  async (name) => {
    const load = loadOf(5);
    await load.untilServed(30);
    await mesh.terminate(name);
    await mesh.start(name);
    await load.untilServed(30);
    const outcomes = await load.stop();
    const unserved = outcomes.filter(({ answer }) => answer?.status !== 200);
    // A single replica is away for the time of its start; that is longer than the callers wait.
    for (const { answer } of unserved) expect(answer?.body.error.code).toBe('SERVICE_UNAVAILABLE');
    await expectConsistent(outcomes);
  },
  120_000,
);

test('a stop of the gateway under load ends what is under way: no answer is cut off', async () => {
  const load = loadOf(5);
  await load.untilServed(50);
  await mesh.terminate('gateway');
  const outcomes = await load.stop();
  await mesh.start('gateway');
  const answered = outcomes.filter(({ answer }) => answer !== undefined);
  expect(answered.every(({ answer }) => answer?.status === 200)).toBe(true);
  // Those without an answer found nobody listening: none of them was sent.
  const silent = outcomes.filter(({ answer }) => answer === undefined).map(({ to }) => to);
  const sent = (await mesh.emulator.messages({ limit: 100_000 })).map(({ to }) => to);
  expect(silent.filter((to) => sent.includes(to))).toEqual([]);
  await expectConsistent(outcomes);
}, 120_000);

test('a deleted client stays deleted through a kill of onboarding', async () => {
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
}, 60_000);

describe('a service on its own', () => {
  const start = (entry: string, env: Record<string, string>) => {
    const child = spawn(
      process.execPath,
      ['--require', '@bmg/common/telemetry/register', join(ROOT, entry)],
      {
        cwd: ROOT,
        env: { PATH: process.env['PATH'] ?? '', ...env },
      },
    );
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    return { child, output: () => output };
  };

  test('says every fault of its settings at once and exits with 78', async () => {
    const { child, output } = start('services/messaging/dist/main.js', {
      GRPC_PORT: 'fifty',
      MONGO_URL: 'not a url',
      KAFKA_BROKERS: 'nowhere',
      UPSTREAM_API_VERSION: '26',
      ENCRYPTION_KEYRING_FILE: '/no/such/file',
    });
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(78);
    for (const name of [
      'GRPC_PORT',
      'MONGO_URL',
      'KAFKA_BROKERS',
      'UPSTREAM_API_VERSION',
      'REDIS_URL',
      'ONBOARDING_ADDR',
    ]) {
      expect(output()).toContain(name);
    }
  }, 30_000);

  test('that comes up before its engines waits, says so, and stops when it is told to', async () => {
    const metrics = await freePort();
    const nowhere = await freePort();
    const { child, output } = start('services/messaging/dist/main.js', {
      GRPC_PORT: '0',
      METRICS_PORT: String(metrics),
      MONGO_URL: `mongodb://127.0.0.1:${nowhere}`,
      KAFKA_BROKERS: `127.0.0.1:${nowhere}`,
      REDIS_URL: `redis://127.0.0.1:${nowhere}`,
      ONBOARDING_ADDR: `127.0.0.1:${nowhere}`,
      UPSTREAM_URL: `http://127.0.0.1:${nowhere}`,
    });
    await eventually(() => output().includes('waiting for MongoDB'), 20_000);
    expect((await fetch(`http://127.0.0.1:${metrics}/livez`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${metrics}/readyz`)).status).toBe(503);
    expect(await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()).toContain(
      'process_cpu_seconds_total',
    );
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(0);
  }, 60_000);
});
