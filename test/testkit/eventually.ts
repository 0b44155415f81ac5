// Polls a condition until it holds, so that tests need no fixed sleeps.
const EVERY_MS = 20;
/** Generous, for a slow machine that does other work: only a condition that never holds takes so long. */
const LIMIT_MS = 30_000;

/**
 * Resolves with the result of `look` once it neither throws nor returns undefined, null or false;
 * after `limit_ms`, rejects with its last failure.
 */
export async function eventually<T>(
  look: () => T | Promise<T>,
  limit_ms = LIMIT_MS,
): Promise<NonNullable<Exclude<T, false>>> {
  const until = Date.now() + limit_ms;
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
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}
