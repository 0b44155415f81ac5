// Reads a Stripe invoice: turns its present state into the event and the facts of a slot charge. No
// I/O.
import type Stripe from 'stripe';
import { monthOf } from '../../../ground/slots';
import type { ChargeEvent, ChargeFacts, SlotCharge } from '../store/slot-charges';

export interface Reading {
  status: 'draft' | 'open' | 'paid' | 'void';
  total_cents: number;
  payment_url: string | null;
  paid_at: Date | null;
  /** The outcome of the last payment attempt of an open invoice. */
  outcome: 'untried' | 'declined' | 'action_required';
  failure: string | null;
}

/** A deleted draft, which counts as void. */
export const GONE: Reading = {
  status: 'void',
  total_cents: 0,
  payment_url: null,
  paid_at: null,
  outcome: 'untried',
  failure: null,
};

const NEEDS_PERSON = new Set([
  'authentication_required',
  'invoice_payment_intent_requires_action',
  'payment_intent_authentication_failure',
]);
/** Any other status counts as open: `open` itself, and `uncollectible`, which can still be paid. */
const NOT_OPEN = ['draft', 'paid', 'void'] as const;
const MS = 1_000;
/** Clock difference around midnight, so that our payment counts for its own month. */
const MIDNIGHT_MS = 5 * 60_000;

export function readInvoice(invoice: Stripe.Invoice): Reading {
  const { status, total, hosted_invoice_url, status_transitions } = invoice;
  const paid_at = status_transitions?.paid_at ?? null;
  return {
    status: NOT_OPEN.find((one) => one === status) ?? 'open',
    total_cents: total,
    payment_url: hosted_invoice_url ?? null,
    paid_at: paid_at === null ? null : new Date(paid_at * MS),
    ...readPayment(intentOf(invoice)),
  };
}

function intentOf({ payments }: Stripe.Invoice): Stripe.PaymentIntent | null {
  const paid = payments?.data ?? [];
  const latest = paid.find(({ is_default }) => is_default) ?? paid.at(-1);
  const intent = latest?.payment.payment_intent;
  return intent === undefined || typeof intent === 'string' ? null : intent;
}

function readPayment(intent: Stripe.PaymentIntent | null): Pick<Reading, 'outcome' | 'failure'> {
  if (!intent) return { outcome: 'untried', failure: null };
  const { status, last_payment_error } = intent;
  const failure = last_payment_error?.decline_code ?? last_payment_error?.code ?? null;
  if (status === 'requires_action' || (failure !== null && NEEDS_PERSON.has(failure))) {
    return { outcome: 'action_required', failure: failure ?? 'authentication_required' };
  }
  return failure === null ? { outcome: 'untried', failure } : { outcome: 'declined', failure };
}

/** The event of the charge that a reading stands for; null if there is no outcome yet. */
export function eventOf(reading: Reading): ChargeEvent | null {
  if (reading.status === 'paid') return 'pay';
  if (reading.status === 'void') return 'void';
  if (reading.status === 'draft' || reading.outcome === 'untried') return null;
  return reading.outcome === 'declined' ? 'decline' : 'ask';
}

/**
 * The facts to store with the charge. A payment covers the month in which it is made, and never a
 * month before the one it was charged for.
 */
export function factsOf(reading: Reading, charge: ChargeAttempt, now: Date): ChargeFacts {
  const { payment_url, failure } = reading;
  if (reading.status !== 'paid') return { payment_url, failure };
  const paid_at = reading.paid_at ?? now;
  const ours = charge.attempt_open ? MIDNIGHT_MS : 0;
  const months = [
    charge.month,
    charge.attempt_month ?? charge.month,
    monthOf(new Date(paid_at.getTime() - ours)),
  ];
  return {
    payment_url: null,
    failure: null,
    paid_at,
    covers: months.sort().at(-1) as string,
  };
}

type ChargeAttempt = Pick<SlotCharge, 'month' | 'attempt_month' | 'attempt_open'>;
