// Takes a business account's place: under the plan's limit and, if a processor collects the fee,
// in a paid billing slot. Payments are checked again when the place is taken, so that two
// concurrent registrations cannot both take the last place, nor wait for fewer invoices than they
// need.
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { Cover } from './processor';
import type { Client } from '../../ground/clients';
import { hasRoom, type Place } from '../../ground/partners';
import type { Dependencies } from '../../dependencies';

/** An attempt fails only if another registration of the same partner has just succeeded. */
const TRIES_MAX = 20;

/** The account's billing state, or null if the plan has no room for it. */
export async function takePlace(
  { partners, payments }: Dependencies,
  purchase: Place,
  covered: Cover,
  call: Call,
): Promise<Pick<Client, 'billing' | 'payment_url'> | null> {
  const { partner_id, waba_id } = purchase;
  let cover = covered;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    if (cover.billing === 'active') {
      if (await partners.activateWaba(purchase, cover.active_max)) {
        return { billing: 'active', payment_url: null };
      }
    } else if (await partners.reserveWaiting(purchase, cover.places_max)) {
      return { billing: cover.billing, payment_url: cover.payment_url };
    }
    const partner = await partners.find(partner_id);
    if (!partner || !hasRoom(partner, waba_id)) return null;
    cover = await payments.cover(purchase, call);
  }
  throw new ApiError('SERVICE_UNAVAILABLE', 'too many registrations at the same time: try again', {
    retryable: true,
    retry_after_s: 1,
  });
}

/** Throws PAYMENT_ACTION_REQUIRED for an account that waits for its invoice to be paid. */
export function refuseUnlessPaid({ billing, payment_url }: Client): void {
  if (billing === 'active') return;
  throw new ApiError(
    'PAYMENT_ACTION_REQUIRED',
    'the bank asks for authentication: open payment_url; the account becomes active once the invoice is paid',
    { payment_url: payment_url ?? undefined },
  );
}
