// What an operator asks Kafka at night: how far each group is behind, and the dead letters. Reads
// with a consumer of its own that commits nothing.
import { randomUUID } from 'node:crypto';
import type { Admin, Kafka, KafkaMessage } from 'kafkajs';
import { createLogger } from '../telemetry';
import { createKafka, withAdmin, type KafkaSettings } from './client';
import { backlogOf, behind } from './groups';
import { deadLetterName, topics } from './topics';

export interface GroupLag {
  group: string;
  topic: string;
  /** Messages that are not handled yet. */
  messages: number;
}

/** Where a dead letter is. `topic` is the one that it was meant for, without the prefix. */
export interface LetterPlace {
  topic: string;
  partition: number;
  offset: string;
}

export interface DeadLetter extends LetterPlace {
  failed_at: string;
  reason: string;
  bytes: number;
}

export type BusOperator = ReturnType<typeof createBusOperator>;

/** The reasons of letters that are whole messages of their topic; others are parts of a webhook. */
const WHOLE_MESSAGE = /^(handler:|undecodable$)/;
/** A group forms within seconds. */
const READ_LIMIT_MS = 30_000;
const NAMES = Object.values(topics).map(({ name }) => name);

export function createBusOperator(settings: KafkaSettings) {
  const log = createLogger('operator');
  log.level = 'silent';
  const kafka = createKafka(settings, 'operator', log);
  const prefix = settings.KAFKA_TOPIC_PREFIX;
  const ask = <T>(work: (admin: Admin) => Promise<T>): Promise<T> => withAdmin(kafka, work, 1);
  const letterTopic = (topic: string): string => prefix + deadLetterName(topic);
  const find = async ({ topic, partition, offset }: LetterPlace) => {
    const ends = await ask((admin) => admin.fetchTopicOffsets(letterTopic(topic)));
    const end = ends.find((one) => one.partition === partition);
    if (!end || !isBetween(offset, end)) return undefined;
    const part = { topic: letterTopic(topic), partition, from: offset, until: BigInt(offset) + 1n };
    const [found] = await readFrom(kafka, prefix, [part], (message) => message);
    return found;
  };
  return {
    lags: (): Promise<GroupLag[]> => ask((admin) => lagsOf(admin, prefix)),
    /** The latest `limit` letters of each partition, the oldest first; without their contents. */
    async deadLetters(limit: number): Promise<DeadLetter[]> {
      const parts = await ask(async (admin) => {
        const existing = new Set(await admin.listTopics());
        const known = NAMES.map(letterTopic).filter((name) => existing.has(name));
        const found = await Promise.all(
          known.map(async (topic) =>
            (await admin.fetchTopicOffsets(topic)).map(({ partition, low, high }) => {
              const latest = BigInt(high) - BigInt(limit);
              const from = latest > BigInt(low) ? String(latest) : low;
              return { topic, partition, from, until: BigInt(high) };
            }),
          ),
        );
        return found.flat().filter(({ from, until }) => BigInt(from) < until);
      });
      const letters = await readFrom(kafka, prefix, parts, (message, { topic, partition }) => ({
        topic: topic.slice(prefix.length, -deadLetterName('').length),
        partition,
        offset: message.offset,
        failed_at: headerOf(message, 'failed_at'),
        reason: headerOf(message, 'reason'),
        bytes: message.value?.length ?? 0,
      }));
      return letters.sort((one, other) => one.failed_at.localeCompare(other.failed_at));
    },
    /** The contents of a letter, which may be texts of customers. Undefined if there is none. */
    deadLetter: async (place: LetterPlace): Promise<Buffer | undefined> =>
      (await find(place))?.value ?? undefined,
    /**
     * Publishes a letter to its topic again, with its key. Resolves to false if there is none, or
     * if it is only a part of a message: the rest of that one was handled.
     */
    async replay(place: LetterPlace): Promise<boolean> {
      const letter = await find(place);
      if (!letter || !WHOLE_MESSAGE.test(headerOf(letter, 'reason'))) return false;
      const producer = kafka.producer();
      await producer.connect();
      try {
        const { key, value } = letter;
        await producer.send({ topic: prefix + place.topic, acks: -1, messages: [{ key, value }] });
      } finally {
        await producer.disconnect();
      }
      return true;
    },
  };
}

const isBetween = (offset: string, { low, high }: { low: string; high: string }): boolean =>
  BigInt(offset) >= BigInt(low) && BigInt(offset) < BigInt(high);

const headerOf = ({ headers }: KafkaMessage, name: string): string => String(headers?.[name] ?? '');

async function lagsOf(admin: Admin, prefix: string): Promise<GroupLag[]> {
  const { groups } = await admin.listGroups();
  const own = groups.map(({ groupId }) => groupId).filter((group) => group.startsWith(prefix));
  const lags = await Promise.all(
    own.map(async (groupId) => {
      const committed = await admin.fetchOffsets({ groupId });
      return Promise.all(
        committed.map(async ({ topic, partitions }) => {
          const ends = await admin.fetchTopicOffsets(topic);
          const messages = backlogOf(behind(partitions, ends)).waiting;
          return {
            group: groupId.slice(prefix.length),
            topic: topic.slice(prefix.length),
            messages,
          };
        }),
      );
    }),
  );
  return lags.flat().sort((one, other) => other.messages - one.messages);
}

interface Part {
  topic: string;
  partition: number;
  from: string;
  /** Exclusive. */
  until: bigint;
}

/** Reads all parts to their ends and keeps what `pick` takes of each message; rejects after a time. */
async function readFrom<T>(
  kafka: Kafka,
  prefix: string,
  parts: readonly Part[],
  pick: (message: KafkaMessage, part: Part) => T,
): Promise<T[]> {
  if (parts.length === 0) return [];
  const found: T[] = [];
  const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`;
  const open = new Map(parts.map((part) => [keyOf(part.topic, part.partition), part]));
  const consumer = kafka.consumer({ groupId: `${prefix}operator-${randomUUID()}` });
  await consumer.connect();
  let timer: NodeJS.Timeout | undefined;
  try {
    await consumer.subscribe({ topics: [...new Set(parts.map(({ topic }) => topic))] });
    await new Promise<void>((resolve, reject) => {
      const late = (): void => reject(new Error('Kafka did not deliver the dead letters in time'));
      timer = setTimeout(late, READ_LIMIT_MS);
      const run = consumer.run({
        autoCommit: false,
        eachMessage: async ({ topic, partition, message }) => {
          const key = keyOf(topic, partition);
          const part = open.get(key);
          if (!part || BigInt(message.offset) < BigInt(part.from)) return;
          if (BigInt(message.offset) < part.until) found.push(pick(message, part));
          if (BigInt(message.offset) + 1n >= part.until) open.delete(key);
          if (open.size === 0) resolve();
        },
      });
      run.catch(reject);
      for (const { topic, partition, from } of parts) {
        consumer.seek({ topic, partition, offset: from });
      }
    });
    return found;
  } finally {
    clearTimeout(timer);
    await consumer.disconnect();
  }
}
