// The payment processor is a plug. It is asked before a business account becomes active, and answers how
// the account may start, or refuses with a 402.
import type { Call, Implementation } from '@bmg/common/rpc';
import type { Component } from '@bmg/common/lifecycle';

export interface Purchase {
  partner_id: string;
  waba_id: string;
  /** UTC month, YYYY-MM. */
  month: string;
}

/**
 * How an account starts: active while no more than `active_max` are, or waiting for an invoice to be paid
 * while no more than `places_max` have a place. Beyond them there is no slot for it, or no invoice.
 */
export type Cover =
  | { billing: 'active'; active_max: number }
  | { billing: 'payment_action_required'; payment_url: string | null; places_max: number };

export interface PaymentProcessor {
  readonly name: string;
  cover(purchase: Purchase, call: Call): Promise<Cover>;
  /** The partner's accounts have changed: what is owed and who may send is looked at again soon. */
  review(partner_id: string): Promise<void>;
  /** What the processor is asked over gRPC. */
  readonly rpc: Implementation;
  /** Work of its own, if it has any. */
  readonly components: Component[];
}
