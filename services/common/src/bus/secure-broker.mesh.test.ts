// A Kafka broker that accepts only TLS with SASL: the bus creates its topics there, publishes and
// consumes. A wrong password or an unknown authority is refused.
import pino from 'pino';
import { eventually } from '../../../../test/testkit/eventually';
import { startSecureKafka, type SecureKafka } from '../../../../test/testkit/secure-engines';
import { createBus, topics, type KafkaSettings } from '.';

const PASSWORD = 'correct-horse';
const quiet = pino({ level: 'silent' });

let kafka: SecureKafka;
let settings: KafkaSettings;

beforeAll(async () => {
  kafka = await startSecureKafka({ scram: { scram: PASSWORD }, plain: { plain: PASSWORD } });
  settings = {
    KAFKA_BROKERS: `127.0.0.1:${kafka.port}`,
    KAFKA_TOPIC_PREFIX: 'secure.',
    KAFKA_REPLICATION: 1,
    KAFKA_TLS: true,
    KAFKA_TLS_CA_FILE: kafka.ca_file,
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: 'scram',
    KAFKA_SASL_PASSWORD: PASSWORD,
  };
});

afterAll(() => kafka?.stop());

test.each([
  ['scram-sha-512', 'scram'],
  ['scram-sha-256', 'scram'],
  ['plain', 'plain'],
] as const)('with %s what is published is consumed', async (mechanism, username) => {
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
    const one = { topic: topics.usage, key: 'p', message: { ...message, partner_id: mechanism } };
    // A broker that has just started is not yet the leader of the partitions that it names.
    await eventually(() => bus.publish([one]).then(() => true));
    await eventually(() => seen.includes(mechanism));
  } finally {
    await bus.stop();
  }
});

/** The first reason that the bus logs for its wait. */
async function reasonToWait(overrides: Partial<KafkaSettings>): Promise<string> {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const bus = createBus({ ...settings, ...overrides }, 'test', log);
  const abort = new AbortController();
  const starting = bus.start(abort.signal).catch(() => undefined);
  const line = await eventually(() => lines.find((one) => one.includes('waiting for Kafka')));
  abort.abort();
  await starting;
  expect(lines.join()).not.toContain(PASSWORD);
  return (JSON.parse(line) as { err: { message: string } }).err.message;
}

test('reports a wrong password without logging it', async () => {
  expect(await reasonToWait({ KAFKA_SASL_PASSWORD: 'battery-staple' })).toMatch(/SASL|authenti/i);
});

test('does not connect to a broker with an unknown authority', async () => {
  expect(await reasonToWait({ KAFKA_TLS_CA_FILE: undefined })).toMatch(/certificate/i);
});
