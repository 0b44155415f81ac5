// Polls a condition until it holds, so that tests need no fixed sleeps.
const EVERY_MS = 20;
/** A long wait looks less often: each look takes CPU from the tests that run beside it. */
const EVERY_MAX_MS = 250;
const SHARE_OF_WAIT = 0.1;
/**
 * Generous, for a slow machine that does other work: only a condition that never holds takes so
 * long.
 */
const LIMIT_MS = 90_000;

/**
 * Resolves with the result of `look` once it neither throws nor returns undefined, null or false;
 * after `limit_ms`, rejects with its last failure.
 */
export async function eventually<T>(
  look: () => T | Promise<T>,
  limit_ms = LIMIT_MS,
): Promise<NonNullable<Exclude<T, false>>> {
  const since = Date.now();
  const until = since + limit_ms;
  let failure: unknown = new Error('the condition did not hold');
  for (;;) {
    try {
      const value = await look();
      if (value !== undefined && value !== null && value !== false) {
        return value as NonNullable<Exclude<T, false>>;
      }
    } catch (error) {
      failure = error;
    }
    if (Date.now() > until) throw failure;
    const pause = Math.max(EVERY_MS, Math.min(EVERY_MAX_MS, SHARE_OF_WAIT * (Date.now() - since)));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
