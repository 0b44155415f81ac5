// A time limit for work that takes no signal.
import { SendFailed } from './destination';

/**
 * Resolves with the work; rejects with SendFailed after `limit_ms` or once the signal aborts. The
 * work goes on: the caller closes what it uses.
 */
export async function within<T>(
  work: Promise<T>,
  limit_ms: number,
  signal: AbortSignal,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new SendFailed('timeout')), limit_ms);
    onAbort = () => reject(new SendFailed('cancelled'));
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
