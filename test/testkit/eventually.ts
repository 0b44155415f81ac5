// Polls a condition until it holds, so that tests need no fixed sleeps.
const EVERY_MS = 20;

/**
 * Resolves with the result of `look` once it neither throws nor returns undefined, null or false;
 * after `limit_ms`, rejects with its last failure.
 */
export async function eventually<T>(
  look: () => T | Promise<T>,
  limit_ms = 10_000,
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
