// Leases on rows, so that one worker at a time works on each; the lease of a crashed worker
// expires.
import { newId } from '@bmg/common/ids';
import { pause } from '@bmg/common/lifecycle';
import { HOP_MS, type Call } from '@bmg/common/rpc';

export interface Lease {
  holder: string;
  until: Date;
}

interface Leased {
  renew(id: string, lease: Lease): Promise<unknown>;
  release(id: string, holder: string): Promise<unknown>;
}

const POLL_EVERY_MS = 150;

export const newHolder = (): string => newId('hld');

/**
 * Calls `take` until it returns a value. Throws the error of `refuse` once less than `margin_ms`
 * are left before the call's deadline, which the answer needs.
 */
export async function waitToTake<T>(
  take: () => Promise<T | undefined>,
  call: Call,
  { margin_ms, refuse }: { margin_ms: number; refuse: () => Error },
): Promise<T> {
  const wait_until = call.deadline - HOP_MS - margin_ms;
  for (;;) {
    const taken = await take();
    if (taken !== undefined) return taken;
    if (Date.now() + POLL_EVERY_MS > wait_until || call.signal?.aborted) throw refuse();
    await pause(POLL_EVERY_MS, call.signal);
  }
}

/** Renews a lease until the returned function is called, which releases it. */
export function keepRenewing(
  rows: Leased,
  id: string,
  lease: () => Lease,
  every_ms: number,
): () => Promise<void> {
  // A failed renewal lets the lease expire. Another worker may then repeat the work, which is safe.
  const renew = (): void => void rows.renew(id, lease()).catch(() => undefined);
  const timer = setInterval(renew, every_ms);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await rows.release(id, lease().holder).catch(() => undefined);
  };
}
