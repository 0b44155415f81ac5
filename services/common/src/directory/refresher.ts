// Refreshes the cache entries that are in use, in batches, before they expire. With many partners of few
// events each, nearly every event would otherwise be a cache miss and cost a call of its own.

/** An entry of the cache. Times are those of performance.now(). */
export interface Refreshable {
  fetched_at: number;
  used_at: number;
}

/** Half of an entry's life, which leaves the other half for the call. */
const REFRESH_AGE_MS = 1_500;
const CHECK_EVERY_MS = 250;
/** An entry that is used less often than this costs less when it is fetched on use. */
export const IN_USE_MS = 10_000;
const AT_ONCE_MAX = 500;

/**
 * `refresh` fetches the entries and stores the changes in them. If it fails, they expire and are
 * fetched on use.
 */
export function createRefresher<E extends Refreshable>(refresh: (entries: E[]) => Promise<void>) {
  const in_use = new Set<E>();
  let timer: NodeJS.Timeout | undefined;
  const due = (): E[] => {
    const now = performance.now();
    const found: E[] = [];
    for (const entry of in_use) {
      if (now - entry.used_at >= IN_USE_MS) in_use.delete(entry);
      else if (now - entry.fetched_at >= REFRESH_AGE_MS) found.push(entry);
    }
    return found;
  };
  const check = async (): Promise<void> => {
    const entries = due();
    for (let from = 0; from < entries.length; from += AT_ONCE_MAX) {
      await refresh(entries.slice(from, from + AT_ONCE_MAX)).catch(() => undefined);
    }
    timer = undefined;
    plan();
  };
  const plan = (): void => {
    if (in_use.size > 0) timer ??= setTimeout(() => void check(), CHECK_EVERY_MS).unref();
  };
  return {
    /** The entry is in use: it was fetched twice within IN_USE_MS. */
    add(entry: E): void {
      in_use.add(entry);
      plan();
    },
    remove: (entry: E): boolean => in_use.delete(entry),
  };
}
