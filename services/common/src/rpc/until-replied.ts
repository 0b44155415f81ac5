import type { Call } from './call';

/**
 * Runs the work of a call that holds something its reply needs, such as memory. `release` is called once the
 * reply is written or the caller has left; at once if the work fails.
 */
export async function untilReplied<T>(
  { signal }: Pick<Call, 'signal'>,
  release: () => void,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const reply = await work();
    if (!signal || signal.aborted) release();
    else signal.addEventListener('abort', release, { once: true });
    return reply;
  } catch (error) {
    release();
    throw error;
  }
}
