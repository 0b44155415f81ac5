// The destinations that this process has open: one for each endpoint, at most so many in all, and
// closed after some minutes without events.
import type { Destination, DestinationEvent, Sent } from './destination';
import { failureText, unsent } from './destination';

export interface OpenDestinations {
  /**
   * Sends through the destination of a key, and opens it at first use. Settings that change need a
   * new key, such as the endpoint's id and version. Never rejects.
   */
  send(
    key: string,
    open: () => Promise<Destination>,
    events: readonly DestinationEvent[],
    signal: AbortSignal,
  ): Promise<Sent[]>;
  /** Closes the destination of a key that changed or was deleted. */
  forget(key: string): void;
  close(): Promise<void>;
}

export interface OpenDestinationsOptions {
  open_max?: number;
  idle_ms?: number;
}

const OPEN_MAX = 256;
const IDLE_MS = 5 * 60_000;
const SWEEPS_PER_IDLE = 4;

interface Entry {
  destination: Promise<Destination>;
  users: number;
  used_at: number;
}

export function createOpenDestinations({
  open_max = OPEN_MAX,
  idle_ms = IDLE_MS,
}: OpenDestinationsOptions = {}): OpenDestinations {
  /** The least recently used first. */
  const entries = new Map<string, Entry>();
  const closing = new Set<Promise<void>>();
  let closed = false;

  const end = (key: string, entry: Entry): void => {
    if (entries.get(key) === entry) entries.delete(key);
    const done = entry.destination.then((one) => one.close()).catch(() => undefined);
    closing.add(done);
    void done.finally(() => closing.delete(done));
  };
  const sweep = (): void => {
    const limit = performance.now() - idle_ms;
    for (const [key, entry] of entries) {
      if (entry.users === 0 && entry.used_at <= limit) end(key, entry);
    }
  };
  const timer = setInterval(sweep, idle_ms / SWEEPS_PER_IDLE).unref();

  /** Undefined if all are in use. */
  const take = (key: string, open: () => Promise<Destination>): Entry | undefined => {
    const known = entries.get(key);
    if (known !== undefined) {
      // To the end: it is the most recently used.
      entries.delete(key);
      entries.set(key, known);
      return known;
    }
    // Those that are closing still have their connections.
    if (entries.size + closing.size >= open_max) {
      const idle = [...entries].find(([, { users }]) => users === 0);
      if (idle === undefined || closing.size >= open_max) return undefined;
      end(...idle);
    }
    const entry: Entry = { destination: open(), users: 0, used_at: performance.now() };
    entries.set(key, entry);
    // A failure to open is not kept: the next call tries again.
    entry.destination.catch(() => end(key, entry));
    return entry;
  };

  return {
    async send(key, open, events, signal) {
      const entry = closed ? undefined : take(key, open);
      if (entry === undefined) {
        const text = closed ? 'destination closed' : 'too many destinations open';
        return events.map(() => unsent(text));
      }
      entry.users += 1;
      try {
        const destination = await entry.destination;
        return await destination.send(events, signal);
      } catch (error) {
        return events.map(() => unsent(failureText(error)));
      } finally {
        entry.users -= 1;
        entry.used_at = performance.now();
      }
    },
    forget(key) {
      const entry = entries.get(key);
      if (entry !== undefined) end(key, entry);
    },
    async close() {
      closed = true;
      clearInterval(timer);
      for (const [key, entry] of entries) end(key, entry);
      await Promise.all(closing);
    },
  };
}
