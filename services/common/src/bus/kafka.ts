// The bus on Kafka. Only this folder imports kafkajs.
import type { Kafka } from 'kafkajs';
import { waitFor } from '../lifecycle';
import { metrics, traceparent, type Logger } from '../telemetry';
import type { Bus, Outgoing } from './bus';
import { createKafka, withAdmin, type KafkaSettings } from './client';
import { TopicReader, type Reading } from './consumer';
import { createGroups } from './groups';
import { createPublisher, createSender, MessageTooLarge, type Wire } from './publisher';
import { handleWithRetries } from './retrying';
import { createTopics, deadLetterName, topicNames, type Topic } from './topics';

const REASON_LENGTH_MAX = 1_000;
/** Key, headers and framing, which the broker's limit includes. */
const FRAME_BYTES = 4 * 1024;

export function createBus(settings: KafkaSettings, clientId: string, log: Logger): Bus {
  const kafka = createKafka(settings, clientId, log);
  const prefix = settings.KAFKA_TOPIC_PREFIX;
  const sender = createSender(kafka, log, prefix);
  const publisher = createPublisher(sender.send);
  const groups = createGroups(kafka, log);
  let producing = false;
  let stopping = false;

  const deadLetter: Bus['deadLetter'] = async (topic, payload, reason, key = '') => {
    metrics.dead_letters.inc({ topic: topic.name, reason: reason.split(':')[0] ?? reason });
    await publisher.add([{ ...deadLetterOf(prefix, topic, payload, reason), key }]);
  };
  const readers = createReaders({ kafka, deadLetter, log }, groups, prefix);

  return {
    name: 'kafka',
    publish: async (messages) => publisher.add(messages.map((message) => encode(prefix, message))),
    deadLetter,
    consume: (topic, group, handler, onAssigned) =>
      readers.add(
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
      ),
    consumeUnsettled: (topic, group, handler, onAssigned) =>
      readers.add(topic, group, counted(topic, group, handler), onAssigned),
    async missingTopics() {
      const existing = new Set(await withAdmin(kafka, (admin) => admin.listTopics(), 0));
      return topicNames(prefix).filter((name) => !existing.has(name));
    },
    attended: (group) => groups.attended(prefix + group),
    behind: ({ name }, group) => groups.behind(prefix + name, prefix + group),
    pauseIntake: readers.hold,
    prepare: (signal) => waitFor('Kafka', () => prepareTopics(kafka, settings), log, signal),
    async start(signal) {
      const connect = async (): Promise<void> => {
        await prepareTopics(kafka, settings);
        await sender.connect();
        producing = true;
      };
      await waitFor('Kafka', connect, log, signal);
      await readers.each((reader) => reader.start(signal));
      groups.start();
    },
    async stop() {
      stopping = true;
      groups.stop();
      // Stop reading first; the last offsets are committed while still a member of the group.
      readers.hold();
      await readers.each((reader) => reader.stop());
      await publisher.drain();
      await readers.each((reader) => reader.disconnect());
      await sender.disconnect();
    },
    async check() {
      if (!producing) throw new Error('not connected');
      if (publisher.failing()) throw new Error('Kafka rejects messages');
    },
  };
}

/** The readers of a bus: one for each topic and group. */
function createReaders(
  parts: Pick<Reading<unknown>, 'kafka' | 'deadLetter' | 'log'>,
  groups: ReturnType<typeof createGroups>,
  prefix: string,
) {
  const readers: TopicReader<any>[] = []; // any: each topic has its own message type
  return {
    add<T>(
      topic: Topic<T>,
      group: string,
      handler: Reading<T>['handler'],
      onAssigned: Reading<T>['onAssigned'],
    ): void {
      const place = { name: prefix + topic.name, group, group_id: prefix + group };
      groups.watch({ ...place, topic: topic.name });
      readers.push(new TopicReader({ ...parts, ...place, topic, handler, onAssigned }));
    },
    /** Stops reading. */
    hold: (): void => readers.forEach((reader) => reader.hold()),
    each: (work: (reader: TopicReader<any>) => Promise<void>) => Promise.all(readers.map(work)), // any: as above
  };
}

const counted =
  <T>({ name }: Topic<T>, group: string, handler: Reading<T>['handler']): typeof handler =>
  async (messages, heartbeat) => {
    await handler(messages, heartbeat);
    metrics.bus_consumed.inc({ destination: name, group, outcome: 'ok' }, messages.length);
  };

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
  return {
    topic: prefix + deadLetterName(topic.name),
    value: payload.subarray(0, room),
    headers: {
      reason: reason.slice(0, REASON_LENGTH_MAX),
      failed_at: new Date().toISOString(),
      ...(payload.length > room && { cut_from_bytes: String(payload.length) }),
    },
  };
}

const prepareTopics = (
  kafka: Kafka,
  { KAFKA_TOPIC_PREFIX: prefix, KAFKA_REPLICATION: replication }: KafkaSettings,
): Promise<void> => withAdmin(kafka, (admin) => createTopics(admin, { prefix, replication }));
