// Retries a failed batch. Faults of a message: message by message, then to the dead letters.
// Outages of a store or service: until they end.
import { pause } from '../lifecycle';
import { metrics, type Logger } from '../telemetry';
import type { Received } from './bus';
import type { Topic } from './topics';

interface RetryingDependencies {
  deadLetter(topic: Topic<any>, payload: Buffer, reason: string, key?: string): Promise<void>; // any: only the bytes matter
  log: Logger;
  stopping(): boolean;
}

interface HandledBatch<T> {
  topic: Topic<T>;
  group: string;
  messages: Received<T>[];
  handler: (messages: Received<T>[]) => Promise<void>;
  heartbeat: () => Promise<void>;
}

const TRIES = 3;
const PAUSE_MS = 200;
const PAUSE_GROWS_UNTIL = 10;
/** Interval of the heartbeats that keep a member in its group while it handles a batch. */
export const HEARTBEAT_MS = 2_000;

/** Resolves once every message was handled or is among the dead letters. */
export async function handleWithRetries<T>(
  batch: HandledBatch<T>,
  deps: RetryingDependencies,
): Promise<void> {
  const { topic, group, messages, handler, heartbeat } = batch;
  if (messages.length === 0) return;
  for (let attempt = 1; ; attempt += 1) {
    const started = performance.now();
    const took = (outcome: string): void =>
      metrics.bus_process_duration.observe(
        { destination: topic.name, group, outcome },
        (performance.now() - started) / 1_000,
      );
    try {
      await keepMember(handler(messages), heartbeat);
      took('ok');
      metrics.bus_consumed.inc({ destination: topic.name, group, outcome: 'ok' }, messages.length);
      return;
    } catch (error) {
      took('failed');
      // On shutdown the batch stays unsettled and is read again after the restart.
      if (deps.stopping()) throw error;
      // An unavailable store or broker is retried for ever: giving up would lose the messages.
      deps.log.warn({ err: error, topic: topic.name, group, attempt }, 'a batch failed');
      if (attempt >= TRIES && isPoison(error)) return splitOrPutAside(batch, error, deps);
      await pause(PAUSE_MS * Math.min(attempt, PAUSE_GROWS_UNTIL));
      await heartbeat();
    }
  }
}

/**
 * A handler may take longer than the group's session timeout, so heartbeats continue meanwhile. The
 * consumer learns of a rebalance afterwards.
 */
async function keepMember(handling: Promise<void>, heartbeat: () => Promise<void>): Promise<void> {
  const beating = setInterval(() => void heartbeat().catch(() => undefined), HEARTBEAT_MS);
  await handling.finally(() => clearInterval(beating));
}

async function splitOrPutAside<T>(
  batch: HandledBatch<T>,
  error: Error,
  deps: RetryingDependencies,
): Promise<void> {
  const [first, second] = batch.messages;
  if (first && second) {
    for (const one of batch.messages) await handleWithRetries({ ...batch, messages: [one] }, deps);
  } else if (first) {
    const { topic, group } = batch;
    const bytes = Buffer.from(topic.codec.encode(first.message).finish());
    await deps.deadLetter(topic, bytes, `handler: ${error.name}`, first.key);
    metrics.bus_consumed.inc({ destination: topic.name, group, outcome: 'poison' });
  }
}

/**
 * True for a fault in the message or in our code, which a retry cannot fix. Anything else (an
 * unavailable store, broker or service) is temporary, and giving up would lose the message.
 */
const isPoison = (error: unknown): error is Error =>
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof SyntaxError ||
  error instanceof ReferenceError;
