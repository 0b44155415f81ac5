// The state of the payment processor's double: the objects and fields that this product uses, under
// the processor's own names.
export type CardBehaviour = 'fine' | 'declined' | 'needs_authentication';

export interface Customer {
  id: string;
  name: string | null;
  metadata: Record<string, string>;
  default_payment_method: string | null;
}

export interface PaymentMethod {
  id: string;
  customer: string;
  behaviour: CardBehaviour;
  last4: string;
}

export interface PaymentIntent {
  id: string;
  status: 'requires_payment_method' | 'requires_action' | 'succeeded' | 'canceled';
  last_payment_error: { code: string; decline_code?: string } | null;
}

export interface Invoice {
  id: string;
  customer: string;
  status: 'draft' | 'open' | 'paid' | 'void';
  total: number;
  description: string | null;
  metadata: Record<string, string>;
  created: number;
  paid_at: number | null;
  intent: PaymentIntent | null;
}

export interface CheckoutSession {
  id: string;
  customer: string;
  setup_intent: string;
  success_url: string;
  done: boolean;
}

export interface Event {
  id: string;
  type: string;
  created: number;
  /** A snapshot from the time of the event. */
  object: object;
}

/** A payment from a card to the account. */
export interface Payment {
  invoice: string;
  customer: string;
  cents: number;
  metadata: Record<string, string>;
}

export interface World {
  now: () => Date;
  base_url: string;
  customers: Map<string, Customer>;
  methods: Map<string, PaymentMethod>;
  invoices: Map<string, Invoice>;
  sessions: Map<string, CheckoutSession>;
  /** Setup intent → payment method. */
  setups: Map<string, string>;
  events: Event[];
  payments: Payment[];
  id(prefix: string): string;
  emit(type: string, object: object): void;
}

export interface Request {
  method: string;
  path: string;
  params: Params;
  idempotency_key: string | undefined;
}

export interface Answer {
  status: number;
  body: object;
  replayed?: boolean;
}

export type Params = { [name: string]: string | Params };

export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly error: { type: string; code?: string; decline_code?: string; message: string },
    /** True if the processor keeps the answer under the idempotency key. */
    readonly kept = true,
  ) {
    super(error.message);
  }
}

export const invalid = (message: string, code?: string, kept = false): Refusal =>
  new Refusal(400, { type: 'invalid_request_error', message, ...(code && { code }) }, kept);
