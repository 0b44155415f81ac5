// A partner's topic on a real broker with TLS and users, which names addresses.
import { readFileSync } from 'node:fs';
import { DestinationError } from '@bmg/common/destinations';
import { Kafka, logLevel, type KafkaMessage } from 'kafkajs';
import { eventually } from '../../../../../test/testkit/eventually';
import { startSecureKafka, type SecureKafka } from '../../../../../test/testkit/secure-engines';
import { testEvents } from '../../../../../test/testkit/destination-events';
import type { Destination, DestinationGuard } from '../destination';
import { openDestination } from '../kinds';

const USERNAME = 'partner';
const PASSWORD = 'correct-horse';
const TOPIC = 'events';
const SMALL_TOPIC = 'small';
const SMALL_BYTES = 2_000;

let broker: SecureKafka;
let admin: Kafka;
let guard: DestinationGuard;
const opened: Destination[] = [];

beforeAll(async () => {
  broker = await startSecureKafka({
    scram: { [USERNAME]: PASSWORD },
    plain: { [USERNAME]: PASSWORD },
    advertised_host: 'localhost',
  });
  guard = { allowPrivate: true, ca: readFileSync(broker.ca_file, 'utf8') };
  admin = new Kafka({ brokers: [broker.admin], logLevel: logLevel.NOTHING });
  const connection = admin.admin();
  await connection.connect();
  await connection.createTopics({
    waitForLeaders: true,
    topics: [
      { topic: TOPIC, numPartitions: 3 },
      {
        topic: SMALL_TOPIC,
        numPartitions: 1,
        configEntries: [{ name: 'max.message.bytes', value: String(SMALL_BYTES) }],
      },
    ],
  });
  await connection.disconnect();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});
afterAll(() => broker?.stop());

async function open(
  settings: Record<string, unknown> = {},
  other: Partial<DestinationGuard> = {},
): Promise<Destination> {
  const all = {
    brokers: [`127.0.0.1:${broker.port}`],
    topic: TOPIC,
    mechanism: 'scram-sha-512',
    username: USERNAME,
    password: PASSWORD,
    ...settings,
  };
  const destination = await openDestination('kafka', all, { ...guard, ...other });
  opened.push(destination);
  return destination;
}

/** Reads a topic until the condition holds. */
async function readUntil(
  topic: string,
  condition: (messages: KafkaMessage[]) => boolean,
): Promise<KafkaMessage[]> {
  const messages: KafkaMessage[] = [];
  const consumer = admin.consumer({ groupId: `reader-${Date.now()}` });
  await consumer.connect();
  try {
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ message }) => void messages.push(message),
    });
    await eventually(() => condition(messages));
    return messages;
  } finally {
    await consumer.disconnect();
  }
}

const idOf = (message: KafkaMessage): string => String(message.headers?.['webhook-id']);

test.each(['plain', 'scram-sha-256', 'scram-sha-512'])(
  'stores the envelope with its id, and the conversation as the key, with %s',
  async (mechanism) => {
    const destination = await open({ mechanism });
    await destination.check();
    const events = testEvents(`shape-${mechanism}`, 5);
    expect(await destination.send(events)).toEqual(events.map(() => ({ ok: true })));
    const ids = new Set(events.map((one) => one.event_id));
    const stored = await readUntil(
      TOPIC,
      (messages) => messages.filter((one) => ids.has(idOf(one))).length === ids.size,
    );
    for (const { event_id, event, ordering_key, body } of events) {
      const message = stored.find((one) => idOf(one) === event_id);
      expect(message?.key?.toString()).toBe(ordering_key);
      expect(message?.value?.equals(body)).toBe(true);
      expect(String(message?.headers?.['event'])).toBe(event);
    }
  },
);

const FORBIDDEN: Partial<DestinationGuard> = {
  resolve: async () => [{ address: '169.254.169.254', family: 4 }],
};
const WRONG = { password: 'battery-staple' };

test.each<[string, object, Partial<DestinationGuard>, string, RegExp, string]>([
  ['a missing topic', { topic: 'missing' }, {}, 'topic', /does not exist/, 'no such topic'],
  ['a wrong password', WRONG, {}, 'password', /refused/, 'credentials refused'],
  ['a broker at a forbidden address', {}, FORBIDDEN, 'brokers', /public internet/, 'url_refused'],
])('reports %s', async (_name, settings, other, setting, problem, error) => {
  const destination = await open({ ...settings }, other);
  const fault = await destination.check().catch((one: unknown) => one);
  expect(fault).toBeInstanceOf(DestinationError);
  expect(fault).toMatchObject({ setting });
  expect(String(fault)).toMatch(problem);
  expect(String(fault)).not.toMatch(/battery-staple|correct-horse|169\.254/);
  const [sent] = await destination.send(testEvents('fault', 1));
  expect(sent).toEqual({ ok: false, error, permanent: false });
});

test('an event larger than the topic takes is refused for good, and the others are stored', async () => {
  const destination = await open({ topic: SMALL_TOPIC });
  const events = testEvents('sizes', 4);
  const [, large] = events;
  if (large) large.body = Buffer.alloc(SMALL_BYTES * 2, 'x');
  expect(await destination.send(events)).toEqual([
    { ok: true },
    { ok: false, error: 'event too large for the topic', permanent: true },
    { ok: true },
    { ok: true },
  ]);
});
