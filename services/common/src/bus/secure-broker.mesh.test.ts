// A Kafka broker that accepts only TLS with SASL: the bus creates its topics there, publishes and
// consumes. A wrong password or an unknown authority is refused.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { javaFlags } from '../../../../deploy/local/src/java';
import { requireJars } from '../../../../deploy/local/src/jars';
import { freePort } from '../../../../deploy/local/src/ports';
import { launch, logTail, stopProcess } from '../../../../deploy/local/src/processes';
import { findJava } from '../../../../deploy/local/src/tools';
import { eventually } from '../../../../test/testkit/eventually';
import { createBus, topics, type KafkaSettings } from '.';

const WANTED = { what: 'the local Kafka', instead: 'install one' };
const CLUSTER_ID = Buffer.from('bmg-secure-kafka').toString('base64url');
const PASSWORD = 'correct-horse';
const START_LIMIT_MS = 120_000;
const quiet = pino({ level: 'silent' });

let dir: string;
let settings: KafkaSettings;

const openssl = (...args: string[]): void => {
  execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
};

/** An authority, and the broker's certificate by it, in the form that Kafka reads: one PEM file. */
function makeCertificates(): void {
  const key = ['-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Test CA');
  openssl('req', ...key.slice(0, 3), '-keyout', 'key.pem', '-out', 'csr', '-subj', '/CN=broker');
  writeFileSync(join(dir, 'ext'), 'subjectAltName=IP:127.0.0.1,DNS:localhost');
  const signer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
  openssl('x509', '-req', '-in', 'csr', ...signer, '-extfile', 'ext', '-out', 'cert.pem');
  const both = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(dir, name), 'utf8'));
  writeFileSync(join(dir, 'broker.pem'), both.join(''));
}

async function writeProperties(port: number): Promise<string> {
  const [plain, controller] = [await freePort(), await freePort()];
  const jaas = `org.apache.kafka.common.security.plain.PlainLoginModule required user_plain="${PASSWORD}";`;
  const lines = [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@127.0.0.1:${controller}`,
    `listeners=SECURE://127.0.0.1:${port},BROKER://127.0.0.1:${plain},CONTROLLER://127.0.0.1:${controller}`,
    `advertised.listeners=SECURE://127.0.0.1:${port},BROKER://127.0.0.1:${plain}`,
    'controller.listener.names=CONTROLLER',
    'inter.broker.listener.name=BROKER',
    'listener.security.protocol.map=SECURE:SASL_SSL,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    `listener.name.secure.plain.sasl.jaas.config=${jaas}`,
    ...['256', '512'].map(
      (bits) =>
        `listener.name.secure.scram-sha-${bits}.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;`,
    ),
    'ssl.keystore.type=PEM',
    `ssl.keystore.location=${join(dir, 'broker.pem')}`,
    `log.dirs=${join(dir, 'log')}`,
    'auto.create.topics.enable=false',
    'offsets.topic.replication.factor=1',
    'offsets.topic.num.partitions=2',
    'group.initial.rebalance.delay.ms=0',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'log.cleaner.dedupe.buffer.size=8388608',
  ];
  const file = join(dir, 'server.properties');
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'bmg-secure-kafka-'));
  mkdirSync(join(dir, 'log'));
  makeCertificates();
  const port = await freePort();
  const properties = await writeProperties(port);
  const java = await findJava(process.env, WANTED);
  const lib = await requireJars(process.env, WANTED, () => undefined);
  const classPath = ['-cp', join(lib, '*')];
  const users = ['256', '512'].flatMap((bits) => [
    '--add-scram',
    `SCRAM-SHA-${bits}=[name=scram,password=${PASSWORD}]`,
  ]);
  const format = ['format', '-t', CLUSTER_ID, '-c', properties, ...users];
  execFileSync(java, [...javaFlags('128m'), ...classPath, 'kafka.tools.StorageTool', ...format], {
    stdio: 'pipe',
  });
  const { logFile } = await launch({
    dir,
    name: 'kafka',
    command: java,
    args: [
      ...javaFlags('384m'),
      '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
      ...classPath,
      'kafka.Kafka',
      properties,
    ],
    cwd: dir,
    env: process.env,
  });
  await eventually(() => {
    if (readFileSync(logFile, 'utf8').includes('Kafka Server started')) return true;
    throw new Error(logTail(logFile, 0));
  }, START_LIMIT_MS);
  settings = {
    KAFKA_BROKERS: `127.0.0.1:${port}`,
    KAFKA_TOPIC_PREFIX: 'secure.',
    KAFKA_REPLICATION: 1,
    KAFKA_TLS: true,
    KAFKA_TLS_CA_FILE: join(dir, 'ca.pem'),
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: 'scram',
    KAFKA_SASL_PASSWORD: PASSWORD,
  };
}, START_LIMIT_MS + 30_000);

afterAll(async () => {
  await stopProcess({
    dir,
    name: 'kafka',
    marker: join(dir, 'server.properties'),
    log: () => undefined,
  });
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

test.each([
  ['scram-sha-512', 'scram'],
  ['scram-sha-256', 'scram'],
  ['plain', 'plain'],
] as const)(
  'with %s what is published is consumed',
  async (mechanism, username) => {
    const bus = createBus(
      {
        ...settings,
        KAFKA_TOPIC_PREFIX: `${mechanism}.`,
        KAFKA_SASL_MECHANISM: mechanism,
        KAFKA_SASL_USERNAME: username,
      },
      'test',
      quiet,
    );
    const seen: string[] = [];
    bus.consume(topics.usage, 'reader', async (batch) => {
      seen.push(...batch.map(({ message }) => message.partner_id));
    });
    await bus.start(new AbortController().signal);
    try {
      const message = topics.usage.codec.decode(new Uint8Array());
      await bus.publish([
        { topic: topics.usage, key: 'p', message: { ...message, partner_id: mechanism } },
      ]);
      await eventually(() => seen.includes(mechanism), 30_000);
    } finally {
      await bus.stop();
    }
  },
  90_000,
);

/** The first thing that the bus says of why it waits. */
async function reasonToWait(overrides: Partial<KafkaSettings>): Promise<string> {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const bus = createBus({ ...settings, ...overrides }, 'test', log);
  const abort = new AbortController();
  const starting = bus.start(abort.signal).catch(() => undefined);
  const line = await eventually(
    () => lines.find((one) => one.includes('waiting for Kafka')),
    60_000,
  );
  abort.abort();
  await starting;
  expect(lines.join()).not.toContain(PASSWORD);
  return (JSON.parse(line) as { err: { message: string } }).err.message;
}

test('reports a wrong password without logging it', async () => {
  expect(await reasonToWait({ KAFKA_SASL_PASSWORD: 'battery-staple' })).toMatch(/SASL|authenti/i);
}, 90_000);

test('does not connect to a broker with an unknown authority', async () => {
  expect(await reasonToWait({ KAFKA_TLS_CA_FILE: undefined })).toMatch(/certificate/i);
}, 90_000);
