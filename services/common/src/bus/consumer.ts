// Reads one topic in one consumer group. Commits offsets periodically, never past an unsettled
// message, and reconnects after every failure of the broker or a handler.
import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import { pause, waitFor } from '../lifecycle';
import { metrics, parseTraceparent, type Logger } from '../telemetry';
import type { Received, Unsettled } from './bus';
import { createOffsetTracker } from './offset-tracker';
import { createRequestSpacing } from './request-spacing';
import { HEARTBEAT_MS } from './retrying';
import type { Topic } from './topics';

export interface Reading<T> {
  kafka: Kafka;
  topic: Topic<T>;
  /** The topic's name with its prefix. */
  name: string;
  group: string;
  group_id: string;
  handler: (batch: Unsettled<T>[], heartbeat: () => Promise<void>) => Promise<void>;
  onAssigned: ((partitions: number[]) => void) | undefined;
  deadLetter(topic: Topic<any>, payload: Buffer, reason: string, key?: string): Promise<void>; // any: only the bytes matter
  log: Logger;
}

const SESSION_MS = 10_000;
/** How long a fetch waits for data; it returns as soon as some arrives. */
const FETCH_WAIT_MS = 1_000;
const FETCH_LIMIT_BYTES = 8 * 1024 * 1024;
const PARTITION_LIMIT_BYTES = 1024 * 1024;
const COMMIT_EVERY_MS = 250;
const RESTART_AFTER_MS = 2_000;
const JOIN_WAIT_MS = 4_000;
/** On shutdown, batches in progress may complete, so that they are not read again. */
const FINISH_LIMIT_MS = 3_000;
const FINISH_CHECK_MS = 10;

export class TopicReader<T> {
  readonly #reading: Reading<T>;
  readonly #consumer: Consumer;
  readonly #tracker = createOffsetTracker();
  readonly #spacing = createRequestSpacing();
  readonly #stopped = new AbortController();
  /** A member of the group: only then may it pause and commit. */
  #running = false;
  #timer: NodeJS.Timeout | undefined;
  #committing: Promise<void> = Promise.resolve();
  /** Batches in progress. */
  #busy = 0;

  constructor(reading: Reading<T>) {
    this.#reading = reading;
    const consumer = (this.#consumer = createConsumer(reading));
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      this.#running = true;
      this.#tracker.reset();
      reading.onAssigned?.(payload.memberAssignment[reading.name] ?? []);
    });
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      this.#running = false;
      if (!payload.restart) this.#restart(payload.error);
    });
  }

  async start(signal: AbortSignal): Promise<void> {
    const opening = waitFor('Kafka', () => this.#open(), this.#reading.log, signal).then(
      () => undefined,
      (error: unknown) => {
        if (!signal.aborted) throw error;
      },
    );
    // After a kill the group waits until the old member's session expires. A service that also
    // serves gRPC does not wait for that: its messages wait in Kafka.
    await Promise.race([opening, pause(JOIN_WAIT_MS, signal)]);
  }

  /** Stops reading. */
  hold(): void {
    if (this.#running) this.#consumer.pause([{ topic: this.#reading.name }]);
  }

  /** Commits the settled offsets and leaves the group. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    clearTimeout(this.#timer);
    await this.#committing;
    const until = performance.now() + FINISH_LIMIT_MS;
    while (this.#busy > 0 && performance.now() < until) await pause(FINISH_CHECK_MS);
    // Commit while still a member of the group.
    if (this.#running) await this.#commit();
    await this.#consumer.stop();
  }

  disconnect(): Promise<void> {
    return this.#consumer.disconnect();
  }

  async #open(): Promise<void> {
    const { name, topic } = this.#reading;
    await this.#consumer.connect();
    await this.#consumer.subscribe({ topics: [name], fromBeginning: true });
    await this.#consumer.run({
      eachBatch: async (payload) => {
        this.#busy += 1;
        await this.#take(payload).finally(() => (this.#busy -= 1));
      },
      eachBatchAutoResolve: false,
      autoCommit: false,
      partitionsConsumedConcurrently: topic.partitions,
    });
  }

  /** The library restarts only after errors that it considers temporary. */
  #restart(error: Error): void {
    const { log, topic, group } = this.#reading;
    const { signal } = this.#stopped;
    if (signal.aborted) return;
    log.error({ err: error, topic: topic.name, group }, 'consumer crashed, restarting');
    void pause(RESTART_AFTER_MS, signal)
      .then(() => (signal.aborted ? undefined : waitFor('Kafka', () => this.#open(), log, signal)))
      .catch(() => undefined);
  }

  async #take({ batch, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> {
    const started = performance.now();
    const offsets = batch.messages.map(({ offset }) => offset);
    const settleOffset = this.#tracker.begin(batch.partition, offsets);
    const settle = (offset: string): void => {
      settleOffset(offset);
      this.#planCommit();
    };
    const received = await this.#decode(batch.partition, batch.messages);
    if (received.length < offsets.length) {
      const readable = new Set(received.map(({ offset }) => offset));
      for (const offset of offsets) if (!readable.has(offset)) settle(offset);
    }
    const unsettled = received.map((one) => ({
      ...one,
      done: () => settle(one.offset),
      // The tracker waits for the redelivery.
      forget: () => undefined,
    }));
    if (unsettled.length > 0) await this.#reading.handler(unsettled, heartbeat);
    // Moves the read position only; the tracker decides which offsets to commit.
    resolveOffset(batch.lastOffset());
    await heartbeat();
    await this.#spacing.after(offsets.length, started);
  }

  async #decode(partition: number, messages: KafkaMessage[]): Promise<Received<T>[]> {
    const { topic, group, deadLetter } = this.#reading;
    const decoded: Received<T>[] = [];
    const read_at_ms = Date.now();
    for (const message of messages) {
      try {
        decoded.push({
          message: topic.codec.decode(message.value ?? Buffer.alloc(0)),
          key: message.key?.toString() ?? '',
          span: parseTraceparent(message.headers?.['traceparent']?.toString()),
          partition,
          offset: message.offset,
          published_at_ms: Number(message.timestamp),
          read_at_ms,
        });
      } catch {
        metrics.bus_consumed.inc({ destination: topic.name, group, outcome: 'undecodable' });
        const key = message.key?.toString();
        await deadLetter(topic, message.value ?? Buffer.alloc(0), 'undecodable', key);
      }
    }
    return decoded;
  }

  /** Schedules a commit unless one is scheduled: a process without settled messages stays idle. */
  #planCommit(): void {
    if (this.#timer !== undefined || this.#stopped.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#committing = this.#commit().finally(() => {
        this.#timer = undefined;
        if (this.#tracker.hasSettled) this.#planCommit();
      });
    }, COMMIT_EVERY_MS);
  }

  async #commit(): Promise<void> {
    const { name, topic, group, log } = this.#reading;
    const taken = this.#tracker.take();
    if (taken.length === 0) return;
    try {
      await this.#consumer.commitOffsets(taken.map((one) => ({ topic: name, ...one })));
    } catch (error) {
      this.#tracker.restore(taken);
      log.warn({ err: error, topic: topic.name, group }, 'failed to commit offsets');
    }
  }
}

const createConsumer = ({ kafka, group_id }: { kafka: Kafka; group_id: string }): Consumer =>
  kafka.consumer({
    groupId: group_id,
    sessionTimeout: SESSION_MS,
    heartbeatInterval: HEARTBEAT_MS,
    maxWaitTimeInMs: FETCH_WAIT_MS,
    minBytes: 1,
    maxBytes: FETCH_LIMIT_BYTES,
    maxBytesPerPartition: PARTITION_LIMIT_BYTES,
    allowAutoTopicCreation: false,
    // Retry for ever: a broker outage is temporary.
    retry: { initialRetryTime: 200, maxRetryTime: 2_000, restartOnFailure: async () => true },
  });
