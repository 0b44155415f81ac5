// Gathers the events of concurrent calls into batches, and holds the rules that all kinds share:
// one batch at a time, time limits, bounds, order within a key.
import {
  EventRefused,
  failureText,
  refused,
  SEND_LIMIT_MS,
  unsent,
  type DestinationEvent,
  type Sent,
} from './destination';

export interface GathererOptions {
  /** Of one batch, and of one event. */
  limits: { events: number; bytes: number; event_bytes: number };
  /** How long the first event of a batch waits for others. */
  wait_ms: number;
  /**
   * True if the events of a batch are stored together or not at all. Otherwise a batch holds one
   * event of a key, so that a later one is never stored without an earlier one.
   */
  atomic: boolean;
  /** A batch holds events of one group only. */
  groupOf?: (event: DestinationEvent) => string;
  /**
   * Rejects if nothing is known to be stored; with EventRefused if one event made the other side
   * refuse the batch.
   */
  write(events: readonly DestinationEvent[], signal: AbortSignal): Promise<Sent[]>;
  /** Called after a write that exceeded its time limit: drops the connection. */
  reset(): void;
}

export interface Gatherer {
  send(events: readonly DestinationEvent[], signal: AbortSignal): Promise<Sent[]>;
  /** Refuses new events and resolves once the waiting ones have their results. */
  drain(): Promise<void>;
}

/** Bounds of what waits for one destination. */
export const WAITING_EVENTS_MAX = 2_000;
export const WAITING_BYTES_MAX = 32 * 1024 * 1024;
/** Shorter than the limit of an event, so that a hung write does not fail all that wait for it. */
const WRITE_LIMIT_MS = 8_000;

/** One call of send: after a failure, later events of the same key fail too. */
interface Call {
  failed_keys: Set<string>;
}

interface Waiting {
  event: DestinationEvent;
  call: Call;
  since: number;
  settled: boolean;
  settle(sent: Sent): void;
}

/** Longer than 70 lines: the functions share one queue. */
export function createGatherer(options: GathererOptions): Gatherer {
  const { limits, wait_ms, atomic, groupOf = () => '', write, reset } = options;
  let queue: Waiting[] = [];
  let queued_bytes = 0;
  let working = false;
  let running: Promise<void> | undefined;
  let draining = false;
  let wake: (() => void) | undefined;

  const enqueue = (event: DestinationEvent, call: Call): Promise<Sent> => {
    const size = event.body.length;
    if (size > limits.event_bytes) {
      const text = `event too large: ${size} bytes, the limit is ${limits.event_bytes}`;
      return Promise.resolve(refused(text));
    }
    const fault = draining ? 'destination closed' : full(size) ? 'too many events waiting' : null;
    if (fault !== null) {
      if (event.ordering_key !== undefined) call.failed_keys.add(event.ordering_key);
      return Promise.resolve(unsent(fault));
    }
    queued_bytes += size;
    return new Promise((resolve) => {
      const one: Waiting = {
        event,
        call,
        since: performance.now(),
        settled: false,
        settle(sent) {
          if (one.settled) return;
          one.settled = true;
          queued_bytes -= size;
          if (!sent.ok && !sent.permanent && event.ordering_key !== undefined) {
            call.failed_keys.add(event.ordering_key);
          }
          resolve(sent);
        },
      };
      queue.push(one);
    });
  };
  const full = (size: number): boolean =>
    queue.length >= WAITING_EVENTS_MAX || queued_bytes + size > WAITING_BYTES_MAX;

  /** The next batch: in the order of arrival, within the limits. */
  const take = (): Waiting[] => {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    /** Keys whose later events must stay. */
    const held = new Set<string>();
    let bytes = 0;
    for (const one of queue) {
      const { ordering_key: key, body } = one.event;
      if (one.settled) continue;
      if (key !== undefined && one.call.failed_keys.has(key)) {
        one.settle(unsent('an earlier event of the conversation failed'));
        continue;
      }
      const [first] = batch;
      const fits =
        batch.length < limits.events &&
        bytes + body.length <= limits.bytes &&
        (first === undefined || groupOf(first.event) === groupOf(one.event));
      if (fits && !(key !== undefined && held.has(key))) {
        batch.push(one);
        bytes += body.length;
        if (key !== undefined && !atomic) held.add(key);
      } else {
        left.push(one);
        if (key !== undefined) held.add(key);
      }
    }
    queue = left;
    return batch;
  };

  const work = async (): Promise<void> => {
    working = true;
    while (queue.length > 0) {
      await gather();
      const batch = take();
      if (batch.length > 0) await settle(batch);
    }
    working = false;
  };
  const gather = async (): Promise<void> => {
    const [oldest] = queue;
    if (oldest === undefined) return;
    const left_ms = oldest.since + wait_ms - performance.now();
    if (left_ms <= 0 || draining || isBatchFull()) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, left_ms);
      wake = () => {
        if (!draining && !isBatchFull()) return;
        clearTimeout(timer);
        resolve();
      };
    });
    wake = undefined;
  };
  const isBatchFull = (): boolean => queue.length >= limits.events || queued_bytes >= limits.bytes;

  const settle = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const sent = await limited(batch.map(({ event }) => event));
      batch.forEach((one, at) => one.settle(sent[at] ?? unsent('failed')));
    } catch (error) {
      const [only] = batch;
      if (!(error instanceof EventRefused)) {
        for (const one of batch) one.settle(unsent(failureText(error)));
      } else if (batch.length === 1) only?.settle(refused(error.message));
      // One at a time, so that only the refused event fails.
      else for (const one of batch) if (isWanted(one)) await settle([one]);
    }
  };
  const isWanted = (one: Waiting): boolean => {
    const key = one.event.ordering_key;
    if (key !== undefined && one.call.failed_keys.has(key)) {
      one.settle(unsent('an earlier event of the conversation failed'));
    }
    return !one.settled;
  };
  const limited = async (events: readonly DestinationEvent[]): Promise<Sent[]> => {
    const abort = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Sent[]>((resolve) => {
      timer = setTimeout(() => {
        abort.abort();
        reset();
        resolve(events.map(() => unsent('timeout')));
      }, WRITE_LIMIT_MS);
    });
    try {
      return await Promise.race([write(events, abort.signal), late]);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    async send(events, signal) {
      const call: Call = { failed_keys: new Set() };
      const before = queue.length;
      const results = events.map((event) => enqueue(event, call));
      const mine = queue.slice(before);
      const end = (error: string) => (): void => {
        for (const one of mine) one.settle(unsent(error));
      };
      const timer = setTimeout(end('timeout'), SEND_LIMIT_MS);
      const onAbort = end('cancelled');
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      wake?.();
      if (!working) running = work();
      try {
        return await Promise.all(results);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      }
    },
    async drain() {
      draining = true;
      wake?.();
      await running;
    },
  };
}
