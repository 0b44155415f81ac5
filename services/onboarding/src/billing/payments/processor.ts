// The interface of a payment processor. It is called before a business account becomes active,
// and returns how the account may start or refuses with a 402.
import type { Call } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import type { Place } from '../../ground/partners';

/**
 * How an account starts: active, provided that no more than `active_max` accounts are; or waiting
 * for an invoice to be paid, provided that no more than `places_max` accounts have a place.
 */
export type Cover =
  | { billing: 'active'; active_max: number }
  | { billing: 'payment_action_required'; payment_url: string | null; places_max: number };

/** Its feature has the `Payments` RPCs and the processor's own background work. */
export interface PaymentProcessor extends Required<Pick<Feature, 'rpcs' | 'workers'>> {
  readonly name: string;
  /** Charges the missing slots, if any. Throws a 402 if a payment fails. */
  cover(purchase: Place, call: Call): Promise<Cover>;
  /** Schedules a review of the bill, after a change of the partner's accounts. */
  review(partner_id: string): Promise<void>;
}
