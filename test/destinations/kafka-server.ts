// A broker with TLS and users, and a reader of its topic.
import { readFileSync } from 'node:fs';
import { Kafka, logLevel } from 'kafkajs';
import { startSecureKafka } from '../testkit/secure-engines';
import { WRONG, type DestinationServer, type StoredEvent } from './server';

const USERNAME = 'partner';
const PASSWORD = 'correct-horse-of-kafka';
const TOPIC = 'partner-events';
const RECONNECTS = 1_000;

export async function startKafkaServer(): Promise<DestinationServer> {
  const broker = await startSecureKafka({ scram: { [USERNAME]: PASSWORD } });
  const kafka = new Kafka({
    brokers: [broker.admin],
    logLevel: logLevel.NOTHING,
    retry: { retries: RECONNECTS, initialRetryTime: 100, maxRetryTime: 1_000 },
  });
  const admin = kafka.admin();
  await admin.connect();
  const topics = [{ topic: TOPIC, numPartitions: 3 }];
  await admin.createTopics({ topics, waitForLeaders: true });
  await admin.disconnect();
  const stored: StoredEvent[] = [];
  const reader = kafka.consumer({ groupId: 'reader' });
  await reader.connect();
  await reader.subscribe({ topic: TOPIC, fromBeginning: true });
  await reader.run({
    eachMessage: async ({ message: { headers, key, value } }) => {
      stored.push({
        event_id: String(headers?.['webhook-id']),
        raw: String(value),
        key: key?.toString(),
      });
    },
  });
  return {
    type: 'kafka',
    settings: {
      brokers: [`127.0.0.1:${broker.port}`],
      topic: TOPIC,
      ca: readFileSync(broker.ca_file, 'utf8'),
      mechanism: 'scram-sha-512',
      username: USERNAME,
      password: PASSWORD,
    },
    credential: PASSWORD,
    faults: [
      ['a wrong password', { password: WRONG }, 'password'],
      ['an address without a server', { brokers: ['127.0.0.1:1023'] }, 'brokers'],
    ],
    stored,
    keeps_repetitions: true,
    hang: () => broker.signal('SIGSTOP'),
    goOn: () => broker.signal('SIGCONT'),
    async interrupt() {
      await broker.signal('SIGKILL');
      await broker.restart();
    },
    async stop() {
      await reader.disconnect().catch(() => undefined);
      await broker.stop();
    },
  };
}
