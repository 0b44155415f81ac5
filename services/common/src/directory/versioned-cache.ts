// A bounded cache of directory answers that asks again as soon as the version has changed, with one
// question under way per key. What is not there is never remembered: a client that registers is seen at once.
// While the directory is away, an answer whose version Redis still names stays good for a while.
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors';
import { CACHE_LIFE_ALONE_MS, CACHE_LIFE_MS } from './versions';

interface Entry<V> {
  value: V;
  version: string | undefined;
  fetched_at: number;
}

export interface VersionedCache<V> {
  /**
   * The value for `key`, from memory when it was fetched under `version` (undefined: unknown, because
   * Redis is away; then answers live one second).
   */
  get(key: string, version: string | undefined, fetch: () => Promise<V>): Promise<V>;
  /** What is remembered of `key`, whatever its version; for picking the version's own key. */
  peek(key: string): V | undefined;
  /** As `get`, but undefined instead of a fetch: for callers that must not wait. */
  fresh(key: string, version: string | undefined): V | undefined;
}

export function createVersionedCache<V extends object>(entries_max: number): VersionedCache<V> {
  const entries = new LRUCache<string, Entry<V>>({ max: entries_max });
  const fetching = new Map<string, Promise<V>>();
  let away = false;
  let ask_again_at = 0;
  const fresh = (key: string, version: string | undefined): V | undefined => {
    const entry = entries.get(key);
    if (!entry) return undefined;
    // By a clock that nobody sets: one that goes back must not make an old answer young.
    const age = performance.now() - entry.fetched_at;
    if (version === undefined) return age < CACHE_LIFE_ALONE_MS ? entry.value : undefined;
    return entry.version === version && age < CACHE_LIFE_MS ? entry.value : undefined;
  };
  return {
    fresh,
    peek: (key) => entries.get(key)?.value,
    async get(key, version, fetch) {
      const known = fresh(key, version);
      if (known) return known;
      const last = entries.get(key);
      const unchanged = last && isUnchanged(last, version) ? last.value : undefined;
      if (away && unchanged) {
        // One question now and then finds out whether the directory is back; nobody else waits for it.
        if (performance.now() < ask_again_at) return unchanged;
        ask_again_at = performance.now() + ASK_EVERY_MS;
      }
      // Questions asked under another version must not answer this one.
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

/** Long enough for a restart; a change whose announcement was lost is believed undone no longer than this. */
export const CACHE_LIFE_AWAY_MS = 60_000;

const ASK_EVERY_MS = 2_000;

const isAway = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE';

const isUnchanged = (entry: Entry<unknown>, version: string | undefined): boolean =>
  version !== undefined &&
  entry.version === version &&
  performance.now() - entry.fetched_at < CACHE_LIFE_AWAY_MS;
