// A bounded cache of directory answers that asks again as soon as the version has changed, with one
// question under way per key. What is not there is never remembered: a client that registers is seen at once.
import { LRUCache } from 'lru-cache';
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
      // Questions asked under another version must not answer this one.
      const question = `${version ?? '?'}|${key}`;
      const running = fetching.get(question);
      if (running) return running;
      const fetched = fetch()
        .then((value) => {
          entries.set(key, { value, version, fetched_at: performance.now() });
          return value;
        })
        .finally(() => fetching.delete(question));
      fetching.set(question, fetched);
      return fetched;
    },
  };
}
