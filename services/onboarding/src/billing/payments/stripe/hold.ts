// A lease on a partner's bill, so that one worker at a time charges it. It only saves duplicate
// work: paying once does not depend on it, because the hold of a crashed worker expires.
import { ApiError } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { pause } from '@bmg/common/lifecycle';
import { HOP_MS, type Call } from '@bmg/common/rpc';
import type { BillingAccounts, Hold } from '../store/billing-accounts';

export const HOLD_MS = 30_000;
const RENEW_EVERY_MS = 8_000;
const POLL_EVERY_MS = 150;
/** Time reserved for the answer once the wait is over. */
const MARGIN_MS = 500;

export interface HoldDependencies {
  accounts: BillingAccounts;
  now: () => Date;
}

export const newHold = (now: Date): Hold => ({
  holder: newId('hld'),
  until: new Date(now.getTime() + HOLD_MS),
});

/**
 * Runs `work` under the partner's hold, and waits for another holder until shortly before the
 * call's deadline. Throws a retryable SERVICE_UNAVAILABLE then.
 */
export async function withHold<T>(
  deps: HoldDependencies,
  partner_id: string,
  call: Call,
  work: () => Promise<T>,
): Promise<T> {
  const { accounts, now } = deps;
  const wait_until = call.deadline - HOP_MS - MARGIN_MS;
  let hold = newHold(now());
  while (!(await accounts.hold(partner_id, hold, now()))) {
    if (Date.now() + POLL_EVERY_MS > wait_until || call.signal?.aborted) {
      throw new ApiError(
        'SERVICE_UNAVAILABLE',
        'a payment of this partner is in progress: try again',
        {
          retry_after_s: 1,
          retryable: true,
        },
      );
    }
    await pause(POLL_EVERY_MS, call.signal);
    hold = newHold(now());
  }
  return whileHeld(deps, partner_id, hold, work);
}

/** Renews the hold while `work` runs, then releases it. */
export async function whileHeld<T>(
  { accounts, now }: HoldDependencies,
  partner_id: string,
  { holder }: Hold,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => {
    const until = new Date(now().getTime() + HOLD_MS);
    accounts.renew(partner_id, { holder, until }).catch(() => undefined);
  }, RENEW_EVERY_MS);
  timer.unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await accounts.release(partner_id, holder).catch(() => undefined);
  }
}
