// Reads one topic in one consumer group. Commits offsets periodically, never past an unsettled
// message, and reconnects after every failure of the broker or a handler.
import type { EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import { pause, waitFor } from '../lifecycle';
import { metrics, parseTraceparent, type Logger } from '../telemetry';
import type { Received, Unsettled } from './bus';
import { createOffsetTracker } from './offset-tracker';
import { createPace } from './pace';
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
  deadLetter(topic: Topic<any>, payload: Buffer, reason: string): Promise<void>; // any: bytes alone count
  log: Logger;
}

export interface Reader {
  start(signal: AbortSignal): Promise<void>;
  /** Stops reading. */
  hold(): void;
  /** Commits the settled offsets and leaves the group. */
  stop(): Promise<void>;
  disconnect(): Promise<void>;
}

const SESSION_MS = 10_000;
const HEARTBEAT_MS = 2_000;
/** How long a fetch waits for data; it returns as soon as some arrives. */
const FETCH_WAIT_MS = 1_000;
const FETCH_LIMIT_BYTES = 8 * 1024 * 1024;
const PARTITION_LIMIT_BYTES = 1024 * 1024;
const COMMIT_EVERY_MS = 250;
const RESTART_AFTER_MS = 2_000;
const JOIN_WAIT_MS = 4_000;
/**
 * On shutdown, batches in progress may complete, so that they are not read again after the restart.
 */
const FINISH_LIMIT_MS = 3_000;
const FINISH_CHECK_MS = 10;

export function createReader<T>(reading: Reading<T>): Reader {
  const { kafka, topic, name, group, log } = reading;
  const tracker = createOffsetTracker();
  const stopped = new AbortController();
  let running = false;
  let timer: NodeJS.Timeout | undefined;
  let committing: Promise<void> = Promise.resolve();
  let busy = 0;
  const pace = createPace();
  const consumer = kafka.consumer({
    groupId: reading.group_id,
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

  const open = async (): Promise<void> => {
    await consumer.connect();
    await consumer.subscribe({ topics: [name], fromBeginning: true });
    await consumer.run({
      eachBatch,
      eachBatchAutoResolve: false,
      autoCommit: false,
      partitionsConsumedConcurrently: topic.partitions,
    });
  };
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    tracker.reset();
    reading.onAssigned?.(payload.memberAssignment[name] ?? []);
  });
  // The library restarts only after errors that it considers temporary.
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    if (payload.restart || stopped.signal.aborted) return;
    log.error({ err: payload.error, topic: topic.name, group }, 'consumer crashed, restarting');
    void pause(RESTART_AFTER_MS, stopped.signal)
      .then(() =>
        stopped.signal.aborted ? undefined : waitFor('Kafka', open, log, stopped.signal),
      )
      .catch(() => undefined);
  });

  async function eachBatch(payload: EachBatchPayload): Promise<void> {
    busy += 1;
    await take(payload).finally(() => (busy -= 1));
  }

  async function take({ batch, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> {
    const started = performance.now();
    const offsets = batch.messages.map(({ offset }) => offset);
    const settle = tracker.begin(batch.partition, offsets);
    const received = await decode(batch.partition, batch.messages);
    if (received.length < offsets.length) {
      const readable = new Set(received.map(({ offset }) => offset));
      for (const offset of offsets) if (!readable.has(offset)) settle(offset);
    }
    const unsettled = received.map((one) => ({ ...one, done: () => settle(one.offset) }));
    if (unsettled.length > 0) await reading.handler(unsettled, heartbeat);
    // Moves the read position only; the tracker decides which offsets to commit.
    resolveOffset(batch.lastOffset());
    await heartbeat();
    await pace.after(offsets.length, started);
  }

  async function decode(partition: number, messages: KafkaMessage[]): Promise<Received<T>[]> {
    const decoded: Received<T>[] = [];
    for (const message of messages) {
      try {
        decoded.push({
          message: topic.codec.decode(message.value ?? Buffer.alloc(0)),
          key: message.key?.toString() ?? '',
          span: parseTraceparent(message.headers?.['traceparent']?.toString()),
          partition,
          offset: message.offset,
        });
      } catch {
        metrics.bus_consumed.inc({ destination: topic.name, group, outcome: 'undecodable' });
        await reading.deadLetter(topic, message.value ?? Buffer.alloc(0), 'undecodable');
      }
    }
    return decoded;
  }

  const commit = async (): Promise<void> => {
    const taken = tracker.take();
    if (taken.length === 0) return;
    try {
      await consumer.commitOffsets(taken.map((one) => ({ topic: name, ...one })));
    } catch (error) {
      tracker.restore(taken);
      log.warn({ err: error, topic: topic.name, group }, 'failed to commit offsets');
    }
  };
  const scheduleCommits = (): void => {
    timer = setTimeout(() => {
      committing = commit();
      void committing.then(() => {
        if (!stopped.signal.aborted) scheduleCommits();
      });
    }, COMMIT_EVERY_MS);
  };

  return {
    async start(signal) {
      const opening = waitFor('Kafka', open, log, signal).then(
        () => {
          running = true;
          scheduleCommits();
        },
        (error: unknown) => {
          if (!signal.aborted) throw error;
        },
      );
      // After a kill the group waits until the old member's session expires. A service that also
      // answers gRPC does not wait for that: its messages wait in Kafka.
      await Promise.race([opening, pause(JOIN_WAIT_MS, signal)]);
    },
    hold() {
      if (running) consumer.pause([{ topic: name }]);
    },
    async stop() {
      stopped.abort();
      clearTimeout(timer);
      await committing;
      const until = performance.now() + FINISH_LIMIT_MS;
      while (busy > 0 && performance.now() < until) await pause(FINISH_CHECK_MS);
      // Commit while still a member of the group.
      if (running) await commit();
      await consumer.stop();
    },
    disconnect: () => consumer.disconnect(),
  };
}
