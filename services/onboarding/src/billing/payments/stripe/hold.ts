// A lease on a partner's bill, so that one worker at a time charges it. It only saves duplicate
// work: paying once does not depend on it, because the hold of a crashed worker expires.
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import { keepRenewing, newHolder, waitToTake, type Lease } from '../../../ground/lease';
import type { BillingAccounts } from '../store/billing-accounts';

const HOLD_MS = 30_000;
const RENEW_EVERY_MS = 8_000;
/** Time reserved for the answer once the wait is over. */
const MARGIN_MS = 500;

interface HoldDependencies {
  accounts: BillingAccounts;
  now: () => Date;
}

export const newHold = (now: Date, holder = newHolder()): Lease => ({
  holder,
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
  const take = async (): Promise<Lease | undefined> => {
    const hold = newHold(now());
    return (await accounts.hold(partner_id, hold, now())) ? hold : undefined;
  };
  const refuse = (): ApiError =>
    new ApiError('SERVICE_UNAVAILABLE', 'a payment of this partner is in progress: try again', {
      retry_after_s: 1,
      retryable: true,
    });
  const hold = await waitToTake(take, call, { margin_ms: MARGIN_MS, refuse });
  return whileHeld(deps, partner_id, hold, work);
}

/** Renews the hold while `work` runs, then releases it. */
export async function whileHeld<T>(
  { accounts, now }: HoldDependencies,
  partner_id: string,
  { holder }: Lease,
  work: () => Promise<T>,
): Promise<T> {
  const release = keepRenewing(accounts, partner_id, () => newHold(now(), holder), RENEW_EVERY_MS);
  try {
    return await work();
  } finally {
    await release();
  }
}
