// The bus on Kafka. Only this folder imports kafkajs.
import { Kafka, logLevel } from 'kafkajs';
import { waitFor } from '../lifecycle';
import { metrics, traceparent, type Logger } from '../telemetry';
import type { Bus, Outgoing, Unsettled } from './bus';
import { createClientLog } from './client-log';
import { connectionOf, type ConnectionSettings } from './connection';
import { createReader, type Reader } from './consumer';
import { createTopics } from './create-topics';
import { createAttendance } from './attendance';
import './group-membership';
import './idle-connections';
import { createLagWatch } from './lag';
import { createSender } from './producer';
import { createPublisher, MessageTooLarge, type Wire } from './publisher';
import { handleWithRetries } from './retrying';
import { deadLetterName, topicNames, type Topic } from './topics';

export interface KafkaSettings extends ConnectionSettings {
  KAFKA_BROKERS: string;
  KAFKA_TOPIC_PREFIX: string;
  KAFKA_REPLICATION: number;
}

const CONNECT_LIMIT_MS = 3_000;
const REQUEST_LIMIT_MS = 10_000;
const REASON_LENGTH_MAX = 1_000;
/** Key, headers and framing, which the broker's limit includes. */
const FRAME_BYTES = 4 * 1024;

/** Longer than 70 lines: the methods share one connection and its state. */
export function createBus(settings: KafkaSettings, clientId: string, log: Logger): Bus {
  const kafka = createKafka(settings, clientId, log);
  const prefix = settings.KAFKA_TOPIC_PREFIX;
  const sender = createSender(kafka, log, prefix);
  const publisher = createPublisher(sender.send);
  const readers: Reader[] = [];
  const lag = createLagWatch(kafka, log);
  const attendance = createAttendance(kafka);
  let producing = false;
  let stopping = false;

  const deadLetter: Bus['deadLetter'] = async (topic, payload, reason, key = '') => {
    metrics.dead_letters.inc({ topic: topic.name, reason: reason.split(':')[0] ?? reason });
    await publisher.add([{ ...deadLetterOf(prefix, topic, payload, reason), key }]);
  };

  const read = <T>(
    topic: Topic<T>,
    group: string,
    handler: (batch: Unsettled<T>[], heartbeat: () => Promise<void>) => Promise<void>,
    onAssigned?: (partitions: number[]) => void,
  ): void => {
    const group_id = prefix + group;
    const name = prefix + topic.name;
    lag.add({ topic: topic.name, name, group, group_id });
    readers.push(
      createReader({ kafka, topic, name, group, group_id, handler, onAssigned, deadLetter, log }),
    );
  };

  return {
    name: 'kafka',
    publish: async (messages) => publisher.add(messages.map((message) => encode(prefix, message))),
    deadLetter,
    consume(topic, group, handler, onAssigned) {
      read(
        topic,
        group,
        async (messages, heartbeat) => {
          await handleWithRetries(
            { topic, group, messages, handler, heartbeat },
            { deadLetter, log, stopping: () => stopping },
          );
          for (const { done } of messages) done();
        },
        onAssigned,
      );
    },
    consumeUnsettled(topic, group, handler, onAssigned) {
      const counted: typeof handler = async (messages, heartbeat) => {
        await handler(messages, heartbeat);
        const labels = { destination: topic.name, group, outcome: 'ok' };
        metrics.bus_consumed.inc(labels, messages.length);
      };
      read(topic, group, counted, onAssigned);
    },
    async missingTopics() {
      const admin = kafka.admin({ retry: { retries: 0 } });
      await admin.connect();
      try {
        const existing = new Set(await admin.listTopics());
        return topicNames(prefix).filter((name) => !existing.has(name));
      } finally {
        await admin.disconnect();
      }
    },
    attended: (group) => attendance.attended(prefix + group),
    behind: ({ name }, group) => attendance.behind(prefix + name, prefix + group),
    pauseIntake() {
      for (const reader of readers) reader.hold();
    },
    prepare: (signal) => waitFor('Kafka', () => prepareTopics(kafka, settings), log, signal),
    async start(signal) {
      await waitFor(
        'Kafka',
        async () => {
          await prepareTopics(kafka, settings);
          await sender.connect();
          producing = true;
        },
        log,
        signal,
      );
      await Promise.all(readers.map((reader) => reader.start(signal)));
      lag.start();
    },
    async stop() {
      stopping = true;
      lag.stop();
      attendance.stop();
      // Stop reading first; the last offsets are committed while still a member of the group.
      for (const reader of readers) reader.hold();
      await Promise.all(readers.map((reader) => reader.stop()));
      await publisher.drain();
      await Promise.all(readers.map((reader) => reader.disconnect()));
      await sender.disconnect();
    },
    async check() {
      if (!producing) throw new Error('not connected');
      if (publisher.failing()) throw new Error('Kafka rejects messages');
    },
  };
}

export function createKafka(settings: KafkaSettings, clientId: string, log: Logger): Kafka {
  const { options, warnings } = connectionOf(settings);
  for (const warning of warnings) log.warn(warning);
  return new Kafka({
    ...options,
    clientId,
    brokers: settings.KAFKA_BROKERS.split(','),
    connectionTimeout: CONNECT_LIMIT_MS,
    requestTimeout: REQUEST_LIMIT_MS,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 5 },
    logLevel: logLevel.WARN,
    logCreator: () => createClientLog(log),
  });
}

function encode(prefix: string, { topic, key, message, span }: Outgoing<unknown>): Wire {
  const bytes = topic.codec.encode(message).finish();
  if (bytes.length + FRAME_BYTES > topic.message_limit_bytes) {
    throw new MessageTooLarge(`${bytes.length} bytes are too many for ${topic.name}`);
  }
  return {
    topic: prefix + topic.name,
    key,
    value: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    headers: span ? { traceparent: traceparent(span) } : {},
  };
}

/** Truncated to the topic's limit, because an oversized dead letter could not be written at all. */
function deadLetterOf(
  prefix: string,
  topic: Topic<any>, // any: only the bytes matter
  payload: Buffer,
  reason: string,
): Omit<Wire, 'key'> {
  const room = topic.message_limit_bytes - FRAME_BYTES;
  const cut: Record<string, string> =
    payload.length > room ? { cut_from_bytes: String(payload.length) } : {};
  return {
    topic: prefix + deadLetterName(topic.name),
    value: payload.subarray(0, room),
    headers: {
      reason: reason.slice(0, REASON_LENGTH_MAX),
      failed_at: new Date().toISOString(),
      ...cut,
    },
  };
}

async function prepareTopics(kafka: Kafka, settings: KafkaSettings): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    await createTopics(admin, {
      prefix: settings.KAFKA_TOPIC_PREFIX,
      replication: settings.KAFKA_REPLICATION,
    });
  } finally {
    await admin.disconnect();
  }
}
