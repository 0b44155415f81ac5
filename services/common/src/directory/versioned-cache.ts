// A bounded cache of directory answers. A new directory version makes an entry stale, and there is
// one request in flight per key. Misses are not cached, so that a new client is found at once.
// While the directory is unavailable, an entry of the current version stays valid for up to a
// minute.
import { LRUCache } from '../cache';
import { ApiError } from '../errors';
import { CACHE_LIFE_ALONE_MS, CACHE_LIFE_MS } from './versions';

interface Entry<V> {
  value: V;
  version: string | undefined;
  fetched_at: number;
}

export interface VersionedCache<V> {
  /**
   * The value for `key`, cached if it was fetched under `version`. Without a version (Redis is
   * unavailable) entries expire after one second.
   */
  get(key: string, version: string | undefined, fetch: () => Promise<V>): Promise<V>;
  /** The cached value whatever its version; used to find the key of the version itself. */
  peek(key: string): V | undefined;
  /** The version of the entry; undefined when there is none, or one too old to be used. */
  versionOf(key: string): string | undefined;
  delete(key: string): void;
}

export function createVersionedCache<V extends object>(entries_max: number): VersionedCache<V> {
  const entries = new LRUCache<string, Entry<V>>({ max: entries_max });
  const fetching = new Map<string, Promise<V>>();
  let away = false;
  let ask_again_at = 0;
  const fresh = (key: string, version: string | undefined): V | undefined => {
    const entry = entries.get(key);
    if (!entry) return undefined;
    // Monotonic clock: a wall-clock step back must not make a stale entry look fresh.
    const age = performance.now() - entry.fetched_at;
    if (version === undefined) return age < CACHE_LIFE_ALONE_MS ? entry.value : undefined;
    return entry.version === version && age < CACHE_LIFE_MS ? entry.value : undefined;
  };
  return {
    peek: (key) => entries.get(key)?.value,
    versionOf(key) {
      const version = entries.get(key)?.version;
      return fresh(key, version) && version;
    },
    delete(key) {
      entries.delete(key);
    },
    async get(key, version, fetch) {
      const known = fresh(key, version);
      if (known) return known;
      const last = entries.get(key);
      const unchanged = last && isUnchanged(last, version) ? last.value : undefined;
      if (away && unchanged) {
        // One request every few seconds probes the directory; other callers do not wait for it.
        if (performance.now() < ask_again_at) return unchanged;
        ask_again_at = performance.now() + ASK_EVERY_MS;
      }
      // A request in flight for another version must not answer this one.
      const question = `${version ?? '?'}|${key}`;
      const running = fetching.get(question);
      if (running) return running;
      const fetched = fetch()
        .then((value) => {
          away = false;
          entries.set(key, { value, version, fetched_at: performance.now() });
          return value;
        })
        .catch((error: unknown) => {
          if (!isAway(error)) throw error;
          away = true;
          ask_again_at = performance.now() + ASK_EVERY_MS;
          if (!unchanged) throw error;
          return unchanged;
        })
        .finally(() => fetching.delete(question));
      fetching.set(question, fetched);
      return fetched;
    },
  };
}

/**
 * Long enough for a restart. A change whose announcement was lost takes effect after this time at
 * the latest.
 */
export const CACHE_LIFE_AWAY_MS = 60_000;

const ASK_EVERY_MS = 2_000;

const isAway = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE';

const isUnchanged = (entry: Entry<unknown>, version: string | undefined): boolean =>
  version !== undefined &&
  entry.version === version &&
  performance.now() - entry.fetched_at < CACHE_LIFE_AWAY_MS;
