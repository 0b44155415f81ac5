// A consumer that is out of its group, on a real broker.
import { randomBytes } from 'node:crypto';
import { Kafka, KafkaJSNonRetriableError, KafkaJSProtocolError, logLevel } from 'kafkajs';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup';
import { createLogger } from '../telemetry';
import { TopicReader } from './consumer';
import './kafkajs-fixes';
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

const log = createLogger('test');
const said = jest.spyOn(log, 'error').mockImplementation(() => {});
afterEach(() => jest.restoreAllMocks());

const readerOf = (group: string, handle: () => Promise<void>) =>
  new TopicReader({
    kafka,
    topic: topics.account,
    name,
    group,
    group_id: `${name}.${group}`,
    handler: async (batch) => {
      await handle();
      for (const { done } of batch) done();
    },
    onAssigned: undefined,
    deadLetter: async () => {},
    log,
  });

test('a reader that has crashed is stopped like any other', async () => {
  // The library leaves the group and does not join it again.
  const reader = readerOf('crashed', () => Promise.reject(new KafkaJSNonRetriableError('no more')));
  await reader.start(new AbortController().signal);
  try {
    await eventually(() => said.mock.calls.length > 0);
    reader.hold();
  } finally {
    await expect(reader.stop()).resolves.toBeUndefined();
    await expect(reader.disconnect()).resolves.toBeUndefined();
  }
});

test('an expelled reader that failed to join again commits what it reads', async () => {
  const protocolError = (type: string, retriable: boolean): KafkaJSProtocolError =>
    new KafkaJSProtocolError(Object.assign(new Error(type), { type, code: 0, retriable }));
  const { joinAndSync } = ConsumerGroup.prototype;
  let memberId: string | null = null;
  jest
    .spyOn(ConsumerGroup.prototype, 'joinAndSync')
    .mockImplementationOnce(async function (this: ConsumerGroup) {
      await joinAndSync.call(this);
      ({ memberId } = this);
    })
    .mockImplementationOnce(async function (this: ConsumerGroup) {
      await this.coordinator?.leaveGroup({ groupId: this.groupId, memberId: memberId as string });
      throw protocolError('GROUP_COORDINATOR_NOT_AVAILABLE', true);
    });
  let calls = 0;
  const reader = readerOf('expelled', async () => {
    calls += 1;
    if (calls === 1) throw protocolError('UNKNOWN_MEMBER_ID', false);
  });
  const admin = kafka.admin();
  await reader.start(new AbortController().signal);
  try {
    await eventually(async () => {
      const [read] = await admin.fetchOffsets({ groupId: `${name}.expelled`, topics: [name] });
      return read?.partitions[0]?.offset === '1';
    }, 30_000);
  } finally {
    await reader.stop();
    await reader.disconnect();
    await admin.disconnect();
  }
});
