// Batches messages: one send at a time, and messages that arrive meanwhile form the next batch.
// Batches grow with the load, without a fixed delay, up to the broker's limits.
import { createRequestSpacing } from './request-spacing';

export interface Wire {
  topic: string;
  key: string;
  value: Buffer;
  headers: Record<string, string>;
}

export interface Publisher {
  add(messages: Wire[]): Promise<void>;
  drain(): Promise<void>;
  /** True while sends fail. */
  failing(): boolean;
}

/** A message above its topic's size limit: a retry cannot succeed. */
export class MessageTooLarge extends RangeError {
  override readonly name = 'MessageTooLarge';
}

const BATCH_MESSAGES_MAX = 400;
const BATCH_BYTES_MAX = 512 * 1024;
/**
 * Beyond this backlog publishing is refused, which bounds memory while the broker is unavailable.
 */
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

export function createPublisher(send: (batch: Wire[]) => Promise<void>): Publisher {
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
    failing: () => performance.now() - failed_at < FAILING_LIFE_MS,
    add(messages) {
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
    async drain() {
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
