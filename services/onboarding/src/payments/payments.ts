// The payment processor is a plug. It is asked before a business account beyond the paid slots becomes
// active, and answers how the account may start, or refuses with a 402.
import type { ClientBilling } from '../store/clients';

export interface SlotPurchase {
  partner_id: string;
  waba_id: string;
  /** UTC month, YYYY-MM. */
  month: string;
  /** How many slots the month needs with this account. */
  slots: number;
}

/** How an account starts: active, or kept inactive until the invoice behind `payment_url` is paid. */
export interface Cover {
  billing: ClientBilling;
  payment_url: string | null;
}

export interface PaymentProcessor {
  readonly name: string;
  cover(purchase: SlotPurchase): Promise<Cover>;
}
