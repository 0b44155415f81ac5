// The destinations that this process has open: one for each endpoint, at most so many in all, and
// closed after some minutes without events.
import {
  failureText,
  unsent,
  type Destination,
  type DestinationEvent,
  type Sent,
} from './destination';

export interface Target {
  /** Names the endpoint. */
  key: string;
  /** Changes with its settings. */
  version: string;
  open(): Promise<Destination>;
}

const OPEN_MAX = 256;
const IDLE_MS = 5 * 60_000;
const SWEEPS_PER_IDLE = 4;

interface Entry {
  destination: Promise<Destination>;
  version: string;
  users: number;
  used_at: number;
}

export function createOpenDestinations({ open_max = OPEN_MAX, idle_ms = IDLE_MS } = {}) {
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
  const take = ({ key, version, open }: Target): Entry | undefined => {
    const known = entries.get(key);
    if (known !== undefined && known.version !== version) end(key, known);
    else if (known !== undefined) {
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
    const entry: Entry = { destination: open(), version, users: 0, used_at: performance.now() };
    entries.set(key, entry);
    // A failure to open is not kept: the next call tries again.
    entry.destination.catch(() => end(key, entry));
    return entry;
  };

  return {
    /**
     * Sends through the destination of a key. It is opened at first use, and again when its
     * settings have another version. Never rejects.
     */
    async send(target: Target, events: readonly DestinationEvent[]): Promise<Sent[]> {
      const entry = closed ? undefined : take(target);
      if (entry === undefined) {
        const text = closed ? 'destination closed' : 'too many destinations open';
        return events.map(() => unsent(text));
      }
      entry.users += 1;
      try {
        const destination = await entry.destination;
        return await destination.send(events);
      } catch (error) {
        return events.map(() => unsent(failureText(error)));
      } finally {
        entry.users -= 1;
        entry.used_at = performance.now();
      }
    },
    async close(): Promise<void> {
      closed = true;
      clearInterval(timer);
      for (const [key, entry] of entries) end(key, entry);
      await Promise.all(closing);
    },
  };
}
