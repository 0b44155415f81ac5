// Starts, kills and restarts real engines in a temporary folder: acknowledged writes survive.
import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createServer } from 'node:net';
import { Kafka, logLevel } from 'kafkajs';
import { MongoClient } from 'mongodb';
import { eventually } from '../../../test/testkit/eventually';
import { ask, type EngineName } from './engine';
import { freePort } from './ports';
import {
  enginePid,
  rememberedPort,
  startEngine,
  startEngines,
  stopEngine,
  type Engines,
} from './start-engines';

const quiet = { log: () => {} };
/**
 * Leaves out the addresses of the shared engines, which would be used instead of new ones.
 */
const { MONGO_URL: _m, KAFKA_BROKERS: _k, REDIS_URL: _r, ...env } = process.env;

let dir: string;
let engines: Engines;
const lines: string[] = [];

beforeAll(async () => {
  dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'bmg-engines-')));
  engines = await startEngines({
    dir,
    ports: 'free',
    env,
    log: (line) => void lines.push(line),
  });
});

afterAll(async () => {
  await Promise.all(
    (['kafka', 'mongo', 'redis'] as const).map((name) => stopEngine(name, { dir, ...quiet })),
  );
  fs.rmSync(dir, { recursive: true, force: true });
});

/** Restarts without a pause, like `make up` right after a kill. */
async function killAndStart(name: EngineName): Promise<void> {
  const before = enginePid(name, dir) as number;
  process.kill(before, 'SIGKILL');
  await eventually(() => enginePid(name, dir) === undefined);
  const again = await startEngine(name, { dir, env, ...quiet });
  expect(again).toMatchObject({ started: true, port: rememberedPort(dir, name) });
  expect(again.pid).not.toBe(before);
}

test('names the engines that it starts before the first one is up, and each that is up', () => {
  expect(lines[0]).toBe('starting kafka, mongo, redis ...');
  for (const name of ['kafka', 'mongo', 'redis']) {
    expect(lines.slice(1)).toContainEqual(expect.stringMatching(`^${name} is up: `));
  }
});

test('finds running engines instead of starting them again', async () => {
  expect(engines.started.map(({ name }) => name).sort()).toEqual(['kafka', 'mongo', 'redis']);
  const again = await startEngines({ dir, ports: 'free', env, ...quiet });
  expect(again).toMatchObject({ urls: engines.urls, started: [] });
  await again.stop();
  expect(enginePid('redis', dir)).toBeDefined();
});

test('does not start an engine whose address is in the environment', async () => {
  const elsewhere = path.join(dir, 'elsewhere');
  const { urls } = engines;
  const result = await startEngines({ dir: elsewhere, env: { ...env, ...urls }, ...quiet });
  expect(result).toMatchObject({ urls, started: [] });
});

test('reports a taken port in one line, with the setting to change', async () => {
  const port = await freePort();
  const server = createServer().listen(port, '127.0.0.1');
  const elsewhere = path.join(dir, 'taken');
  await expect(startEngine('redis', { dir: elsewhere, port, env, ...quiet })).rejects.toThrow(
    `port ${port} (redis) is taken by another program: stop it, or set REDIS_PORT (or REDIS_URL, to use a running one)`,
  );
  server.close();
});

test('a killed Redis restarts with every acknowledged write', async () => {
  const redis = (command: string, answer: string) =>
    ask(rememberedPort(dir, 'redis') as number, Buffer.from(`${command}\r\n`), (bytes) =>
      bytes.includes('\n') ? bytes.toString().includes(answer) : undefined,
    );
  expect(await redis('SET kept yes', '+OK')).toBe(true);
  await killAndStart('redis');
  expect(await redis('GET kept', 'yes')).toBe(true);
});

const WRITTEN_BEFORE_KILL = 200;

test('a killed MongoDB restarts with every acknowledged write complete', async () => {
  const first = new MongoClient(engines.urls.MONGO_URL);
  const documents = first.db('local').collection('documents');
  await documents.createIndex({ key: 1 }, { unique: true });
  const acknowledged: string[] = [];
  const sent: string[] = [];
  // A writer that was between two writes when MongoDB was killed gets no error.
  let restarted = false;
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let n = 0; !restarted; n += 1) {
      const key = `${writer}-${n}`;
      sent.push(key);
      try {
        await documents.insertOne({ key, n });
        await documents.findOneAndUpdate({ key }, { $set: { n: n + 1 } });
        acknowledged.push(key);
      } catch {
        return;
      }
    }
  });
  await eventually(() => acknowledged.length >= WRITTEN_BEFORE_KILL);
  await killAndStart('mongo');
  restarted = true;
  await Promise.all(writers);
  await first.close();

  const second = new MongoClient(engines.urls.MONGO_URL);
  const kept = second.db('local').collection<{ key: string; n: number }>('documents');
  const found = new Map((await kept.find().toArray()).map((one) => [one.key, one.n]));
  expect(acknowledged.length).toBeGreaterThan(0);
  expect(acknowledged.filter((key) => found.get(key) !== Number(key.split('-')[1]) + 1)).toEqual(
    [],
  );
  // An index entry without its document would refuse these.
  for (const key of sent.filter((one) => !found.has(one))) await kept.insertOne({ key, n: 0 });
  await expect(kept.insertOne({ key: sent[0] as string, n: 0 })).rejects.toMatchObject({
    code: 11_000,
  });
  await second.close();
});

test('documents of a TTL index are removed after their expiry, and no others', async () => {
  const client = new MongoClient(engines.urls.MONGO_URL);
  await client.db('admin').command({ setParameter: 1, ttlMonitorSleepSecs: 1 });
  const rows = client.db('local').collection<{ _id: number; at?: unknown }>('expiry');
  await rows.createIndex({ at: 1 }, { expireAfterSeconds: 60 });
  const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1_000);
  await rows.insertMany([
    { _id: 1, at: ago(61) },
    { _id: 2, at: [ago(0), ago(61), 'a'] },
    { _id: 3, at: ago(59) },
    { _id: 4, at: ago(0) },
    { _id: 5, at: ago(0).getTime() - 61_000 },
    { _id: 6, at: [] },
    { _id: 7 },
  ]);
  const left = async (): Promise<number[]> =>
    (await rows.find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
  await eventually(async () => (await left())[0] === 4);
  expect(await left()).toEqual([4, 5, 6, 7]);
  await rows.updateOne({ _id: 5 }, { $set: { at: ago(40) } });
  const index = { keyPattern: { at: 1 }, expireAfterSeconds: 30 };
  await client.db('local').command({ collMod: 'expiry', index });
  await eventually(async () => (await left()).length === 3);
  expect(await left()).toEqual([4, 6, 7]);
  await client.close();
});

const kafkaWith = (retries: number) =>
  new Kafka({
    brokers: [engines.urls.KAFKA_BROKERS],
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 50, maxRetryTime: 500, retries },
  });

test('a killed Kafka restarts with its messages', async () => {
  const kafka = kafkaWith(20);
  const admin = kafka.admin();
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
  await admin.connect();
  await producer.connect();
  await admin.createTopics({ topics: [{ topic: 'kept', numPartitions: 3 }] });
  const messages = Array.from({ length: 50 }, (_, n) => ({ key: `${n}`, value: `${n}` }));
  await producer.send({ topic: 'kept', acks: -1, messages });
  await killAndStart('kafka');
  await producer.send({ topic: 'kept', acks: -1, messages });
  const offsets = await admin.fetchTopicOffsets('kept');
  expect(offsets.reduce((sum, { offset }) => sum + Number(offset), 0)).toBe(100);
  await producer.disconnect();
  await admin.disconnect();
});

test('Kafka does not create missing topics', async () => {
  const kafka = kafkaWith(2);
  const admin = kafka.admin();
  const producer = kafka.producer();
  await admin.connect();
  await producer.connect();
  const unknown = { topic: 'missing-topic', messages: [{ value: 'x' }] };
  await expect(producer.send(unknown)).rejects.toThrow();
  expect(await admin.listTopics()).not.toContain('missing-topic');
  await producer.disconnect();
  await admin.disconnect();
});
