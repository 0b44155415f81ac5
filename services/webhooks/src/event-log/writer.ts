// Writes every event of the topic `delivery` into the log of its partner. Events are written in
// batches beside their delivery, one bucket for each partner, and their Kafka offsets wait until
// they are both logged and delivered or stored.
import type { Unsettled } from '@bmg/common/bus';
import { LRUCache } from '@bmg/common/cache';
import { pause, type Component } from '@bmg/common/lifecycle';
import { metrics, type Logger } from '@bmg/common/telemetry';
import type { Delivery } from '@bmg/proto/stream';
import type { AttemptLog, RecordedAttempt } from './attempt-log';
import { packBodies, type Answers } from './bodies';
import type { Packer } from './packer';
import { holdIntake } from '../delivery';
import type { EventAttempt } from './store/attempts';
import {
  BUCKET_EVENTS_MAX,
  newBucket,
  type Bucket,
  type EventLogStore,
  type Head,
  type LoggedEvent,
} from './store/buckets';

export interface EventLogDependencies {
  store: EventLogStore;
  attempts: AttemptLog;
  packer: Packer;
  log: Logger;
  /** Called when a bucket was written. */
  onGrown(bucket: Bucket): void;
}

/** How long an event waits for others, and for its first attempt: one write then holds them all. */
const LINGER_MS = 100;
const RETRY_MS = 500;
/** While replicas race for the positions of a partner; a write takes some milliseconds. */
const RACE_PAUSE_MS = 10;
/** Above either of these the intake waits. */
const EVENTS_MAX = 20_000;
const BYTES_MAX = 64 * 1024 * 1024;
const BUCKET_BYTES_MAX = 1024 * 1024;
/** Bodies of all buckets of one write. */
const WRITE_BYTES_MAX = 8 * 1024 * 1024;
/** Heads kept in memory: losing one costs a read. */
const HEADS_MAX = 50_000;

/** An event from its arrival until it is logged and its delivery is settled. */
interface Entry {
  message: Delivery;
  partition: number;
  trace_id: string | undefined;
  is_logged: boolean;
  /** Copies of its message whose delivery is not done or stored yet. None waits for another. */
  pending: Set<Unsettled<Delivery>>;
  /** Copies whose delivery is done or stored, and which wait for the log. */
  settled: Unsettled<Delivery>[];
  /** Attempts that the event's bucket will hold. */
  attempts: RecordedAttempt[];
  /** Its bucket is being written: later attempts are written apart. */
  is_packed: boolean;
  /** Attempts that are being written apart. */
  writing: number;
}

export class EventLogWriter implements Component {
  readonly name = 'event-log';
  private readonly entries = new Map<string, Entry>();
  private queues = new Map<string, Entry[]>();
  private readonly heads = new LRUCache<string, Head>({ max: HEADS_MAX });
  private count = 0;
  private bytes = 0;
  private writing: Promise<void> | undefined;
  private readonly stopped = new AbortController();
  private hurry = new AbortController();

  constructor(private readonly deps: EventLogDependencies) {}

  async start(): Promise<void> {}

  /** Writes the queued events at once. Kafka redelivers those that cannot be written. */
  async stop(): Promise<void> {
    this.stopped.abort();
    this.hurry.abort();
    await this.writing;
    await this.deps.attempts.drain();
  }

  /**
   * Queues the events for the log. The messages returned stand for the given ones: their offsets
   * are released once both the log and the caller are done with them. A message that the caller
   * forgets is still logged, and its redelivery does not wait for it.
   */
  accept(batch: Unsettled<Delivery>[]): Unsettled<Delivery>[] {
    const taken = batch.map((received) => this.take(received));
    metrics.event_log_unwritten.set(this.count);
    if (this.count > 0) this.writing ??= this.writeAll();
    return taken;
  }

  /** Waits until the events that are not written yet take less memory than they may. */
  async waitForRoom(heartbeat: () => Promise<void>): Promise<void> {
    const isFull = (): boolean => this.count > EVENTS_MAX || this.bytes > BYTES_MAX;
    await holdIntake(isFull, heartbeat, this.stopped.signal);
  }

  /** The attempt goes into the event's bucket, or apart if the bucket was written already. */
  recordAttempt({ answer, ...attempt }: EventAttempt & { answer: string | null }): void {
    const { event_id, partner_id: _partner, waba_id: _waba, ...recorded } = attempt;
    const entry = this.entries.get(event_id);
    if (entry && !entry.is_packed) {
      entry.attempts.push({ ...recorded, answer });
      return;
    }
    if (entry) entry.writing += 1;
    this.deps.attempts
      .add(attempt, answer)
      .catch((error: unknown) =>
        this.deps.log.warn({ err: error, event_id }, 'failed to record delivery attempt'),
      )
      .finally(() => {
        if (!entry) return;
        entry.writing -= 1;
        this.release(entry);
      });
  }

  private take(received: Unsettled<Delivery>): Unsettled<Delivery> {
    const { message, partition, span } = received;
    let entry = this.entries.get(message.event_id);
    if (!entry) {
      entry = {
        message,
        partition,
        trace_id: span?.traceId,
        is_logged: false,
        pending: new Set(),
        settled: [],
        attempts: [],
        is_packed: false,
        writing: 0,
      };
      this.entries.set(message.event_id, entry);
      this.enqueue(entry);
    }
    const own = entry;
    own.pending.add(received);
    const settle = (is_done: boolean): void => {
      if (own.pending.delete(received) && is_done) own.settled.push(received);
      this.release(own);
    };
    return { ...received, done: () => settle(true), forget: () => settle(false) };
  }

  private enqueue(entry: Entry): void {
    const { partner_id, body } = entry.message;
    const queue = this.queues.get(partner_id);
    if (queue) queue.push(entry);
    else this.queues.set(partner_id, [entry]);
    this.count += 1;
    this.bytes += body.length;
    if (this.count >= BUCKET_EVENTS_MAX || this.bytes >= BUCKET_BYTES_MAX) this.hurry.abort();
  }

  private release(entry: Entry): void {
    if (!entry.is_logged || entry.writing > 0) return;
    const { event_id } = entry.message;
    if (entry.pending.size === 0 && this.entries.get(event_id) === entry) {
      this.entries.delete(event_id);
    }
    for (const { done } of entry.settled.splice(0)) done();
  }

  /** Returns in the tick in which the queue is empty; the next event restarts it. */
  private async writeAll(): Promise<void> {
    while (this.count > 0) {
      const can_write = await this.writeNext();
      if (!can_write) break;
    }
    this.writing = undefined;
  }

  /** False once the writer has stopped and cannot write: Kafka redelivers the events. */
  private async writeNext(): Promise<boolean> {
    if (this.count < BUCKET_EVENTS_MAX && this.bytes < BUCKET_BYTES_MAX) {
      this.hurry = new AbortController();
      if (this.stopped.signal.aborted) this.hurry.abort();
      await pause(LINGER_MS, this.hurry.signal);
    }
    const batch = this.takeBatch();
    try {
      await this.write(batch);
    } catch (error) {
      for (const [partner_id, entries] of batch) this.putBack(partner_id, entries);
      if (this.stopped.signal.aborted) return false;
      this.deps.log.warn({ err: error }, 'failed to write the event log');
      await pause(RETRY_MS, this.stopped.signal);
    }
    metrics.event_log_unwritten.set(this.count);
    return true;
  }

  /** The next bucket of each partner, oldest events first. */
  private takeBatch(): Map<string, Entry[]> {
    const batch = new Map<string, Entry[]>();
    let bytes = 0;
    for (const [partner_id, queue] of [...this.queues]) {
      if (bytes > WRITE_BYTES_MAX) break;
      let size = 0;
      const end = queue.findIndex(({ message }, index) => {
        size += message.body.length;
        return index >= BUCKET_EVENTS_MAX || (index > 0 && size > BUCKET_BYTES_MAX);
      });
      const taken = end === -1 ? queue.splice(0) : queue.splice(0, end);
      // Partners served now come last next time.
      this.queues.delete(partner_id);
      if (queue.length > 0) this.queues.set(partner_id, queue);
      batch.set(partner_id, taken);
      bytes += size;
    }
    for (const entries of batch.values()) {
      for (const entry of entries) {
        entry.is_packed = true;
        this.count -= 1;
        this.bytes -= entry.message.body.length;
      }
    }
    return batch;
  }

  private putBack(partner_id: string, entries: Entry[]): void {
    const left = entries.filter(({ is_logged }) => !is_logged);
    if (left.length === 0) return;
    this.queues.set(partner_id, [...left, ...(this.queues.get(partner_id) ?? [])]);
    this.count += left.length;
    for (const { message } of left) this.bytes += message.body.length;
  }

  /** Inserts one bucket for each partner, again and again until every event is in the log. */
  private async write(batch: Map<string, Entry[]>): Promise<void> {
    let left = batch;
    while (left.size > 0) {
      const buckets = await Promise.all([...left].map((of) => this.bucketOf(...of)));
      const refused = await this.insert(buckets);
      const again = new Map<string, Entry[]>();
      for (const [index, bucket] of buckets.entries()) {
        const { partner_id, last, at, events } = bucket;
        const entries = left.get(partner_id) as Entry[];
        const refusal = refused.get(index);
        if (refusal === undefined) {
          this.heads.set(partner_id, { last, at });
          this.deps.onGrown(bucket);
          metrics.event_log_written.inc(events.length);
          this.markLogged(entries);
          continue;
        }
        metrics.event_log_conflicts.inc({ reason: refusal });
        this.heads.delete(partner_id);
        const rest = refusal === 'event_known' ? await this.withoutKnown(entries) : entries;
        if (rest.length > 0) again.set(partner_id, rest);
      }
      if (again.size > 0) await pause(Math.random() * RACE_PAUSE_MS);
      left = again;
    }
  }

  private async insert(buckets: Bucket[]): ReturnType<EventLogStore['insert']> {
    try {
      return await this.deps.store.insert(buckets);
    } catch (error) {
      // They may have been inserted: the heads are read again.
      for (const { partner_id } of buckets) this.heads.delete(partner_id);
      throw error;
    }
  }

  /** The upstream repeated itself, or Kafka redelivered: these events have their positions. */
  private async withoutKnown(entries: Entry[]): Promise<Entry[]> {
    const known = await this.deps.store.known(entries.map(({ message }) => message.event_id));
    const repeated = entries.filter(({ message }) => known.has(message.event_id));
    for (const entry of repeated) this.writeApart(entry);
    this.markLogged(repeated);
    return entries.filter(({ message }) => !known.has(message.event_id));
  }

  /** The attempts of an event whose bucket exists already. */
  private writeApart(entry: Entry): void {
    const { event_id, partner_id, waba_id } = entry.message;
    for (const attempt of entry.attempts.splice(0)) {
      this.recordAttempt({ ...attempt, event_id, partner_id, waba_id });
    }
  }

  private markLogged(entries: Entry[]): void {
    for (const entry of entries) {
      entry.is_logged = true;
      this.release(entry);
    }
  }

  private async bucketOf(partner_id: string, entries: Entry[]): Promise<Bucket> {
    const head = this.heads.get(partner_id) ?? (await this.deps.store.head(partner_id));
    const first = head.last + 1;
    const answers: Answers = {};
    for (const { message, attempts } of entries) {
      if (attempts.some(({ answer }) => answer !== null)) {
        answers[message.event_id] = attempts.map(({ answer }) => answer);
      }
    }
    const bodies = entries.map(({ message }) => message.body);
    const packed = await packBodies(this.deps.packer, { partner_id, first }, bodies, answers);
    return newBucket(partner_id, {
      first,
      at: new Date(Math.max(Date.now(), head.at.getTime())),
      events: entries.map((entry, index) => loggedEvent(entry, first + index)),
      packed,
    });
  }
}

function loggedEvent(
  { message, partition, trace_id, attempts, pending, settled }: Entry,
  seq: number,
): LoggedEvent {
  const { event_id, event, waba_id, received_at_ms, body } = message;
  return {
    seq,
    event_id,
    event,
    waba_id,
    partition,
    received_at: new Date(received_at_ms),
    size: body.length,
    ...(trace_id !== undefined && { trace_id }),
    ...(attempts.length > 0 && { attempts: attempts.map(({ answer: _, ...one }) => one) }),
    // Settled without an attempt at the webhook URL: known as delivered, by this process or before
    // a crash.
    ...(attempts.every(({ endpoint_id }) => endpoint_id !== undefined) &&
      settled.length > 0 &&
      pending.size === 0 && { delivered: true as const }),
  };
}
