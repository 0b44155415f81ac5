// Gathers the events of concurrent calls into batches, and holds the rules that all kinds share:
// one batch at a time, time limits, bounds, order within a key.
import {
  EventRefused,
  failureText,
  refused,
  SendFailed,
  unsent,
  type DestinationEvent,
  type Sent,
  type Times,
} from './destination';

export interface GathererOptions {
  times: Pick<Times, 'send_ms' | 'write_ms'>;
  /** Bounds of one batch, and of one event. */
  limits: { events: number; bytes: number; event_bytes: number };
  /** How long the first event of a batch waits for others. */
  wait_ms?: number;
  /**
   * True if the events of a batch are stored together or not at all. Otherwise a batch holds one
   * event of a key, so that a later one is never stored without an earlier one.
   */
  atomic: boolean;
  /** A batch holds events of one group only. */
  groupOf?: (event: DestinationEvent) => string;
  /** Rejects if nothing is known to be stored; with EventRefused if one event is the cause. */
  write(events: readonly DestinationEvent[], signal: AbortSignal): Promise<Sent[]>;
  /** Called after a write that exceeded its time limit: drops the connection. */
  reset?(): void;
}

/** Bounds of what waits for one destination. */
export const WAITING_EVENTS_MAX = 2_000;
export const WAITING_BYTES_MAX = 32 * 1024 * 1024;

/** The keys of one call of send that have failed: later events of the same key fail too. */
type FailedKeys = Set<string>;

interface Waiting {
  event: DestinationEvent;
  group: string;
  failed_keys: FailedKeys;
  since: number;
  settled: boolean;
  settle(sent: Sent): void;
}

const EARLIER_FAILED = 'an earlier event of the conversation failed';

export function createGatherer(options: GathererOptions) {
  const { wait_ms = 0, times } = options;
  const queue = createQueue(options);
  const write = createWrite(options);
  let working = false;
  let running: Promise<void> | undefined;
  let wake: (() => void) | undefined;

  const gather = async (): Promise<void> => {
    const left_ms = queue.oldest() + wait_ms - performance.now();
    if (left_ms <= 0 || queue.isReady()) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, left_ms);
      wake = () => {
        if (!queue.isReady()) return;
        clearTimeout(timer);
        resolve();
      };
    });
    wake = undefined;
  };
  const work = async (): Promise<void> => {
    working = true;
    try {
      while (queue.size() > 0) {
        await gather();
        const batch = queue.take();
        if (batch.length > 0) await write(batch);
      }
    } catch (error) {
      queue.fail(failureText(error));
    } finally {
      // In the tick in which the queue is empty, so that the next event starts it again.
      working = false;
    }
  };

  return {
    async send(events: readonly DestinationEvent[]): Promise<Sent[]> {
      const failed_keys: FailedKeys = new Set();
      const before = queue.size();
      const results = events.map((event) => queue.add(event, failed_keys));
      const mine = queue.after(before);
      const timer = setTimeout(() => {
        for (const one of mine) one.settle(unsent('timeout'));
      }, times.send_ms);
      wake?.();
      if (!working) running = work();
      return Promise.all(results).finally(() => clearTimeout(timer));
    },
    /** Refuses new events and resolves once the waiting ones have their results. */
    async drain(): Promise<void> {
      queue.close();
      wake?.();
      await running;
    },
  };
}

/** The events that wait for a batch, in the order of arrival. */
function createQueue({ limits, atomic, groupOf = () => '' }: GathererOptions) {
  let queue: Waiting[] = [];
  let queued_bytes = 0;
  let closed = false;

  const fault = (size: number): string | null => {
    if (closed) return 'destination closed';
    const isFull = queue.length >= WAITING_EVENTS_MAX || queued_bytes + size > WAITING_BYTES_MAX;
    return isFull ? 'too many events waiting' : null;
  };
  const wait = (event: DestinationEvent, failed_keys: FailedKeys): Promise<Sent> => {
    const size = event.body.length;
    const group = groupOf(event);
    queued_bytes += size;
    return new Promise((resolve) => {
      const one: Waiting = {
        event,
        group,
        failed_keys,
        since: performance.now(),
        settled: false,
        settle(sent) {
          if (one.settled) return;
          one.settled = true;
          queued_bytes -= size;
          if (!sent.ok && !sent.permanent) failKey(event, failed_keys);
          resolve(sent);
        },
      };
      queue.push(one);
    });
  };

  return {
    size: () => queue.length,
    oldest: () => queue[0]?.since ?? 0,
    after: (count: number) => queue.slice(count),
    /** True if the next batch waits for no more events. */
    isReady: () => closed || queue.length >= limits.events || queued_bytes >= limits.bytes,
    close: () => void (closed = true),
    fail(error: string) {
      for (const one of queue.splice(0)) one.settle(unsent(error));
    },
    async add(event: DestinationEvent, failed_keys: FailedKeys): Promise<Sent> {
      const size = event.body.length;
      if (size > limits.event_bytes) {
        return refused(`event too large: ${size} bytes, the limit is ${limits.event_bytes}`);
      }
      try {
        const error = fault(size);
        if (error !== null) throw new SendFailed(error);
        return await wait(event, failed_keys);
      } catch (error) {
        failKey(event, failed_keys);
        return unsent(failureText(error));
      }
    },
    take(): Waiting[] {
      const wanted = queue.filter(isWanted);
      const batch = batchOf(wanted, limits, atomic);
      const taken = new Set(batch);
      queue = wanted.filter((one) => !taken.has(one));
      return batch;
    },
  };
}

function failKey({ ordering_key }: DestinationEvent, failed_keys: FailedKeys): void {
  if (ordering_key !== undefined) failed_keys.add(ordering_key);
}

/** Settles an event if an earlier one of its key and call failed. */
function isWanted(one: Waiting): boolean {
  const key = one.event.ordering_key;
  if (key !== undefined && one.failed_keys.has(key)) one.settle(unsent(EARLIER_FAILED));
  return !one.settled;
}

/** The next batch: in the order of arrival, within the limits. */
function batchOf(
  waiting: readonly Waiting[],
  limits: GathererOptions['limits'],
  atomic: boolean,
): Waiting[] {
  const batch: Waiting[] = [];
  /** Keys whose later events must stay. */
  const held = new Set<string | undefined>();
  let bytes = 0;
  for (const one of waiting) {
    const { ordering_key: key, body } = one.event;
    const fits =
      batch.length < limits.events &&
      bytes + body.length <= limits.bytes &&
      (batch[0] ?? one).group === one.group;
    const taken = fits && (key === undefined || !held.has(key));
    if (taken) {
      batch.push(one);
      bytes += body.length;
    }
    if (!taken || !atomic) held.add(key);
  }
  return batch;
}

function createWrite({ write, reset, times }: GathererOptions) {
  const limited = async (events: readonly DestinationEvent[]): Promise<Sent[]> => {
    const abort = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Sent[]>((resolve) => {
      timer = setTimeout(() => {
        // First: neither of the next two may keep the events from their result.
        resolve(events.map(() => unsent('timeout')));
        abort.abort();
        try {
          reset?.();
        } catch {
          // The next write opens a connection anyway.
        }
      }, times.write_ms);
    });
    try {
      return await Promise.race([write(events, abort.signal), late]);
    } finally {
      clearTimeout(timer);
    }
  };
  /** Every event of the batch has a result afterwards. Never rejects. */
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
  return settle;
}
