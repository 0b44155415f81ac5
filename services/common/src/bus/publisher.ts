// Publishes messages in batches, one send at a time. Messages that arrive meanwhile form the next
// batch, so that batches grow with the load, without a fixed delay, up to the broker's limits.
import { CompressionTypes, type Kafka, type PartitionerArgs, type Producer } from 'kafkajs';
import { groupBy } from '../collections';
import { metrics, type Logger } from '../telemetry';
import { createRequestSpacing } from './request-spacing';

export interface Wire {
  topic: string;
  key: string;
  value: Buffer;
  headers: Record<string, string>;
}

/** A message above its topic's size limit: a retry cannot succeed. */
export class MessageTooLarge extends RangeError {
  override readonly name = 'MessageTooLarge';
}

const BATCH_MESSAGES_MAX = 400;
const BATCH_BYTES_MAX = 512 * 1024;
/** Beyond this backlog publishing is refused: bounds memory while the broker is down. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;
const OVERHEAD_BYTES = 128;
/** An older failure is ignored: without traffic no successful send would ever clear it. */
const FAILING_LIFE_MS = 10_000;

interface Waiting {
  messages: Wire[];
  bytes: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

export function createPublisher(send: (batch: Wire[]) => Promise<void>) {
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  let waitingCount = 0;
  const spacing = createRequestSpacing();
  let sending: Promise<void> | undefined;
  let failed_at = -Infinity;

  /** Takes whole groups up to the bound; a larger group is split into several sends. */
  const take = (): Waiting[] => {
    let count = 0;
    let bytes = 0;
    let groups = 0;
    for (const group of waiting) {
      const fits =
        count + group.messages.length <= BATCH_MESSAGES_MAX &&
        bytes + group.bytes <= BATCH_BYTES_MAX;
      if (groups > 0 && !fits) break;
      groups += 1;
      count += group.messages.length;
      bytes += group.bytes;
    }
    const taken = waiting.slice(0, groups);
    waiting = waiting.slice(groups);
    waitingBytes -= bytes;
    waitingCount -= count;
    return taken;
  };
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const groups = take();
      try {
        const messages = groups.flatMap((group) => group.messages);
        const started = performance.now();
        for (const part of cut(messages)) await send(part);
        failed_at = -Infinity;
        for (const { resolve } of groups) resolve();
        if (waitingCount < BATCH_MESSAGES_MAX) await spacing.after(messages.length, started);
      } catch (error) {
        failed_at = performance.now();
        for (const { reject } of groups) reject(error);
      }
    }
    sending = undefined;
  };
  return {
    /** True while sends fail. */
    failing: () => performance.now() - failed_at < FAILING_LIFE_MS,
    add(messages: Wire[]): Promise<void> {
      if (messages.length === 0) return Promise.resolve();
      const bytes = messages.reduce((sum, one) => sum + one.value.length + OVERHEAD_BYTES, 0);
      // A single group is always accepted, or a large one would be refused for ever.
      if (waitingBytes > 0 && waitingBytes + bytes > WAITING_BYTES_MAX) {
        return Promise.reject(new Error('the Kafka backlog is full'));
      }
      return new Promise<void>((resolve, reject) => {
        waiting.push({ messages, bytes, resolve, reject });
        waitingBytes += bytes;
        waitingCount += messages.length;
        sending ??= new Promise<void>((start) => setImmediate(start)).then(flush);
      });
    },
    async drain(): Promise<void> {
      while (sending) await sending;
    },
  };
}

function cut(messages: Wire[]): Wire[][] {
  const parts: Wire[][] = [];
  let part: Wire[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = message.value.length + OVERHEAD_BYTES;
    if (part.length > 0 && (part.length >= BATCH_MESSAGES_MAX || bytes + size > BATCH_BYTES_MAX)) {
      parts.push(part);
      part = [];
      bytes = 0;
    }
    part.push(message);
    bytes += size;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}

const ACKNOWLEDGE_LIMIT_MS = 10_000;

/** Sends batches through kafkajs, and replaces the producer after a failure. */
export function createSender(kafka: Kafka, log: Logger, prefix: string) {
  const create = (): Producer =>
    kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: () => partitionOf,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 3 },
    });
  /** The topic's name without the prefix, as in the consumers' metrics. */
  const destinationOf = (name: string): string => name.slice(prefix.length);
  let producer = create();
  let connected = false;

  /**
   * After a failure it is unknown which records the broker has. With a sequence number that it has
   * seen, the broker would take the next batch for a duplicate: acknowledge and drop it. A new
   * producer has a new identity, which rules that out.
   */
  const replace = (): void => {
    const old = producer;
    producer = create();
    connected = false;
    old.disconnect().catch(() => undefined);
  };
  const connect = async (): Promise<void> => {
    if (connected) return;
    try {
      await producer.connect();
      connected = true;
    } catch (error) {
      replace();
      throw error;
    }
  };
  return {
    connect,
    async send(batch: Wire[]): Promise<void> {
      await connect();
      const byTopic = groupBy(batch, ({ topic }) => topic);
      const started = performance.now();
      try {
        await producer.sendBatch({
          acks: -1,
          compression: CompressionTypes.None,
          timeout: ACKNOWLEDGE_LIMIT_MS,
          topicMessages: [...byTopic].map(([topic, messages]) => ({ topic, messages })),
        });
      } catch (error) {
        log.warn({ err: error, messages: batch.length }, 'failed to publish batch');
        for (const topic of byTopic.keys()) {
          metrics.bus_publish_failures.inc({ destination: destinationOf(topic) });
        }
        replace();
        throw error;
      }
      const seconds = (performance.now() - started) / 1_000;
      for (const [topic, messages] of byTopic) {
        const destination = destinationOf(topic);
        metrics.bus_publish_duration.observe({ destination }, seconds);
        metrics.bus_published.inc({ destination }, messages.length);
      }
    },
    disconnect: () => producer.disconnect(),
  };
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a of the key: the same in every publisher, at a tenth of the cost of the library's hash. */
export function partitionOf({ message, partitionMetadata }: PartitionerArgs): number {
  const key = String(message.key ?? '');
  let hash = FNV_OFFSET;
  for (let at = 0; at < key.length; at += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(at), FNV_PRIME);
  }
  // The high bits of this hash are better mixed.
  hash ^= hash >>> 15;
  return (hash >>> 0) % partitionMetadata.length;
}
