// A consumer that has left its group, on a real broker.
import { randomBytes } from 'node:crypto';
import { Kafka, KafkaJSNonRetriableError, logLevel } from 'kafkajs';
import { createLogger } from '../telemetry';
import { createReader } from './consumer';
import { topics } from './topics';
import { eventually } from '../../../../test/testkit/eventually';

const name = `consumer-test.${randomBytes(5).toString('hex')}`;
const kafka = new Kafka({
  brokers: (process.env['KAFKA_BROKERS'] as string).split(','),
  logLevel: logLevel.NOTHING,
});

beforeAll(async () => {
  const admin = kafka.admin();
  await admin.createTopics({ topics: [{ topic: name, numPartitions: 1 }], waitForLeaders: true });
  await admin.disconnect();
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic: name, messages: [{ value: Buffer.alloc(0) }] });
  await producer.disconnect();
});
afterAll(async () => {
  const admin = kafka.admin();
  await admin.deleteTopics({ topics: [name] });
  await admin.disconnect();
});

test('a reader that has crashed is stopped like any other', async () => {
  const log = createLogger('test');
  const said = jest.spyOn(log, 'error').mockImplementation(() => {});
  const reader = createReader({
    kafka,
    topic: topics.event,
    name,
    group: 'test',
    group_id: name,
    // The library leaves the group and does not join it again.
    handler: () => Promise.reject(new KafkaJSNonRetriableError('no more')),
    onAssigned: undefined,
    deadLetter: async () => {},
    log,
  });
  await reader.start(new AbortController().signal);
  try {
    await eventually(() => said.mock.calls.length > 0);
    reader.hold();
  } finally {
    await expect(reader.stop()).resolves.toBeUndefined();
    await expect(reader.disconnect()).resolves.toBeUndefined();
  }
});
