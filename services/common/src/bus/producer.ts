// Sends batches through kafkajs, one at a time, and replaces the producer after a failure.
import { CompressionTypes, type Kafka, type PartitionerArgs, type Producer } from 'kafkajs';
import { metrics, type Logger } from '../telemetry';
import type { Wire } from './publisher';

export interface Sender {
  connect(): Promise<void>;
  send(batch: Wire[]): Promise<void>;
  disconnect(): Promise<void>;
}

const ACKNOWLEDGE_LIMIT_MS = 10_000;

export function createSender(kafka: Kafka, log: Logger, prefix: string): Sender {
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
    async send(batch) {
      await connect();
      const byTopic = new Map<string, Wire[]>();
      for (const wire of batch) {
        const list = byTopic.get(wire.topic);
        if (list) list.push(wire);
        else byTopic.set(wire.topic, [wire]);
      }
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
