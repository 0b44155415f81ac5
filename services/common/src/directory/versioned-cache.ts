// A bounded cache of directory answers. A new directory version makes an entry stale, and there is
// one request in flight per key. Misses are not cached, so that a new client is found at once.
// While the directory is unavailable, an entry of the current version stays valid for up to a
// minute.
import { LRUCache } from '../cache';
import { ApiError } from '../errors';
import { ownCall, type Call } from '../rpc';
import { unsampled } from '../telemetry';
import { createRefresher, IN_USE_MS, type Refreshable } from './refresher';
import { CACHE_LIFE_ALONE_MS, CACHE_LIFE_MS } from './versions';

interface Entry<V, Q> extends Refreshable {
  key: string;
  value: V;
  version: string | undefined;
  question: Q | undefined;
}

/** Returns, in the order of the questions, the value of each or the error that refuses it. */
export type Load<Q, V> = (questions: Q[], call: Call) => Promise<Array<V | Error>>;

/** Looks up one entry, in a batch of one. */
export async function loadOne<Q, V extends object>(
  load: Load<Q, V>,
  question: Q,
  call: Call,
): Promise<V> {
  const [answer = new Error('the batch has no entries')] = await load([question], call);
  if (answer instanceof Error) throw answer;
  return answer;
}

/** A later answer would find the entries expired. */
const LOAD_LIMIT_MS = CACHE_LIFE_MS;

export class VersionedCache<V extends object, Q = never> {
  readonly #entries: LRUCache<string, Entry<V, Q>>;
  readonly #refresher: ReturnType<typeof createRefresher<Entry<V, Q>>> | undefined;
  readonly #fetching = new Map<string, { answer: Promise<V>; asked_at: number }>();
  #unavailable = false;
  #ask_again_at = 0;

  constructor(entries_max: number, load?: Load<Q, V>) {
    this.#entries = new LRUCache({ max: entries_max });
    this.#refresher = load && createRefresher((due) => this.#refresh(due, load));
  }

  /** The cached value whatever its version; used to find the key of the version itself. */
  peek(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** The version of the entry; undefined when there is none, or one too old to be used. */
  versionOf(key: string): string | undefined {
    const version = this.#entries.get(key)?.version;
    return this.#fresh(key, version) && version;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /**
   * The value for `key`, cached if it was fetched under `version`. Without a version (Redis is
   * unavailable) entries expire after one second. An entry with a `question` is refreshed in a
   * batch while it is in use.
   */
  async get(
    key: string,
    version: string | undefined,
    fetch: () => Promise<V>,
    question?: Q,
  ): Promise<V> {
    const known = this.#fresh(key, version);
    if (known) return known;
    const last = this.#entries.get(key);
    const unchanged = last && isUnchanged(last, version) ? last.value : undefined;
    if (this.#unavailable && unchanged) {
      // One request every few seconds probes the directory; other callers do not wait for it.
      if (performance.now() < this.#ask_again_at) return unchanged;
      this.#ask_again_at = performance.now() + ASK_EVERY_MS;
    }
    // A request in flight is not shared if it is for another version, or if its answer will have
    // expired when it arrives.
    const request = `${version ?? '?'}|${key}`;
    const asked_at = performance.now();
    const running = this.#fetching.get(request);
    if (running && asked_at - running.asked_at < lifeOf(version)) return running.answer;
    const answer = fetch()
      .then((value) => {
        this.#unavailable = false;
        this.#store({ key, value, version, question, fetched_at: asked_at, used_at: asked_at });
        return value;
      })
      .catch((error: unknown) => {
        if (!isAway(error)) throw error;
        this.#unavailable = true;
        this.#ask_again_at = performance.now() + ASK_EVERY_MS;
        if (!unchanged) throw error;
        return unchanged;
      })
      .finally(() => {
        if (this.#fetching.get(request) === started) this.#fetching.delete(request);
      });
    const started = { answer, asked_at };
    this.#fetching.set(request, started);
    return answer;
  }

  #fresh(key: string, version: string | undefined): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    // Monotonic clock: a wall-clock step back must not make a stale entry look fresh.
    const now = performance.now();
    entry.used_at = now;
    const is_current = version === undefined || entry.version === version;
    return is_current && now - entry.fetched_at < lifeOf(version) ? entry.value : undefined;
  }

  /**
   * An entry is as old as its request: the directory may have read it before a later change. One
   * fetched while Redis was late has the version of the entry that it replaces: if that is still
   * current later, no change came between.
   */
  #store(entry: Entry<V, Q>): void {
    const { key, version, question, fetched_at } = entry;
    const last = this.#entries.get(key);
    if (last && last.fetched_at > fetched_at) return;
    entry.version ??= last?.version;
    this.#entries.set(key, entry);
    if (last) this.#refresher?.remove(last);
    if (version === undefined || question === undefined || last?.version !== version) return;
    if (fetched_at - last.fetched_at < IN_USE_MS) this.#refresher?.add(entry);
  }

  /** Keeps the version: a change in the meantime has made the entry stale, whatever its value. */
  async #refresh(due: Array<Entry<V, Q>>, load: Load<Q, V>): Promise<void> {
    const current: Array<Entry<V, Q>> = [];
    for (const entry of due) {
      if (this.#entries.peek(entry.key) === entry) current.push(entry);
      else this.#refresher?.remove(entry);
    }
    if (current.length === 0) return;
    const asked_at = performance.now();
    const answers = await load(
      current.map(({ question }) => question as Q),
      ownCall(unsampled(), LOAD_LIMIT_MS),
    );
    for (const [index, entry] of current.entries()) {
      const value = answers[index];
      if (value === undefined || value instanceof Error) this.#refresher?.remove(entry);
      else Object.assign(entry, { value, fetched_at: asked_at });
    }
  }
}

/** Long enough for a restart. A change that was not announced is in effect after it. */
export const CACHE_LIFE_AWAY_MS = 60_000;

const ASK_EVERY_MS = 2_000;

/** The maximum age of an answer: changes are not announced while Redis is unavailable. */
const lifeOf = (version: string | undefined): number =>
  version === undefined ? CACHE_LIFE_ALONE_MS : CACHE_LIFE_MS;

const isAway = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE';

const isUnchanged = (entry: Entry<unknown, unknown>, version: string | undefined): boolean =>
  version !== undefined &&
  entry.version === version &&
  performance.now() - entry.fetched_at < CACHE_LIFE_AWAY_MS;
