// Waiting: for an engine that is not up yet, for a time, with a timeout.
import type { Logger } from '../telemetry';

const RETRY_MS = 1_000;
const SAY_EVERY = 10;

/** Retries `open` until it succeeds or the signal is aborted. */
export async function waitFor<T>(
  what: string,
  open: () => Promise<T>,
  log: Logger,
  signal: AbortSignal,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await open();
    } catch (error) {
      // A bug: a retry cannot fix it.
      if (signal.aborted || error instanceof TypeError) throw error;
      if (attempt % SAY_EVERY === 0)
        log.warn({ err: error, waiting_for: what }, `waiting for ${what}`);
      await pause(RETRY_MS, signal);
      if (signal.aborted) throw error;
    }
  }
}

/** Aborted with the first of these signals. */
export const anySignal = (...signals: Array<AbortSignal | undefined>): AbortSignal =>
  AbortSignal.any(signals.filter((signal) => signal !== undefined));

/** Resolves after `ms`, or at once when the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    // Node warns of a negative time, which a caller that is late computes.
    const timer = setTimeout(done, Math.max(0, ms));
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** The result of `work`; rejects after `limit_ms`. `work` itself is not cancelled. */
export async function within<T>(limit_ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${limit_ms} ms`)), limit_ms);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
