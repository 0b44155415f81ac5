// One worker at a time is at a partner's money. It keeps work from being done twice for nothing; that
// nothing is paid twice does not rest on it, since a hold ends by itself when its holder has died.
import { ApiError } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { pause } from '@bmg/common/lifecycle';
import { HOP_MS, type Call } from '@bmg/common/rpc';
import type { BillingAccounts, Hold } from '../../store/billing-accounts';

export const HOLD_MS = 30_000;
const RENEW_EVERY_MS = 8_000;
const ASK_EVERY_MS = 150;
/** What an answer needs once the waiting is over. */
const MARGIN_MS = 500;

export interface HoldDependencies {
  accounts: BillingAccounts;
  now: () => Date;
}

export const newHold = (now: Date): Hold => ({
  holder: newId('hld'),
  until: new Date(now.getTime() + HOLD_MS),
});

/** Waits for whoever is at it, as long as the caller has patience. */
export async function withHold<T>(
  deps: HoldDependencies,
  partner_id: string,
  call: Call,
  work: () => Promise<T>,
): Promise<T> {
  const { accounts, now } = deps;
  const patience = call.deadline - HOP_MS - MARGIN_MS;
  let hold = newHold(now());
  while (!(await accounts.hold(partner_id, hold, now()))) {
    if (Date.now() + ASK_EVERY_MS > patience || call.signal?.aborted) {
      throw new ApiError('SERVICE_UNAVAILABLE', 'a payment is being worked on, try again', {
        retry_after_s: 1,
        retryable: true,
      });
    }
    await pause(ASK_EVERY_MS, call.signal);
    hold = newHold(now());
  }
  return keeping(deps, partner_id, hold, work);
}

/** Keeps a hold while the work is under way, and lets go of it. */
export async function keeping<T>(
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
