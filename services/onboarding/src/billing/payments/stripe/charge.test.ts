// Every state and event of a slot charge, and the reading of Stripe's invoices.
import type Stripe from 'stripe';
import {
  chargeMachine,
  type ChargeEvent,
  type ChargeStatus,
  type SlotCharge,
} from '../store/slot-charges';
import { eventOf, factsOf, readInvoice } from './reading';

const STATES: ChargeStatus[] = ['intended', 'declined', 'action_required', 'paid', 'void'];
const UNPAID: ChargeStatus[] = ['intended', 'declined', 'action_required'];
const LEADS_TO: Record<ChargeEvent, ChargeStatus> = {
  pay: 'paid',
  decline: 'declined',
  ask: 'action_required',
  void: 'void',
};

describe('a slot charge', () => {
  const pairs = STATES.flatMap((state) =>
    chargeMachine.events.map((event) => [state, event] as const),
  );

  it.each(pairs)('that is %s, on the event %s, follows the table', (state, event) => {
    // Final states stay: a late refusal does not undo a payment.
    expect(chargeMachine.allows(state, event)).toBe(UNPAID.includes(state));
    expect(chargeMachine.to(event)).toBe(LEADS_TO[event]);
  });

  it('knows no other events', () => {
    expect([...chargeMachine.events].sort()).toEqual(Object.keys(LEADS_TO).sort());
  });
});

const invoice = (
  status: string,
  intent: object | null = null,
  paid_at: number | null = null,
): Stripe.Invoice =>
  ({
    id: 'in_1',
    status,
    total: 1_000,
    hosted_invoice_url: 'https://pay.test/in_1',
    status_transitions: { paid_at },
    ...(intent && {
      payments: { data: [{ is_default: true, payment: { payment_intent: intent } }] },
    }),
  }) as unknown as Stripe.Invoice;

const refusedFor = (last_payment_error: object | null) => ({
  status: 'requires_payment_method',
  last_payment_error,
});
const DECLINED = refusedFor({ code: 'card_declined', decline_code: 'insufficient_funds' });

describe('an invoice', () => {
  it.each([
    ['draft', null, null],
    ['open', null, null],
    ['open', refusedFor(null), null],
    ['open', { status: 'processing', last_payment_error: null }, null],
    ['open', { status: 'requires_action', last_payment_error: null }, 'ask'],
    ['open', refusedFor({ code: 'authentication_required' }), 'ask'],
    ['open', DECLINED, 'decline'],
    ['uncollectible', null, null],
    ['paid', { status: 'succeeded', last_payment_error: null }, 'pay'],
    ['void', null, 'void'],
  ] as const)('that is %s, its payment %j, means %s', (status, intent, event) => {
    expect(eventOf(readInvoice(invoice(status, intent)))).toBe(event);
  });

  it('yields the reason of a refusal and the page to pay on', () => {
    const reading = readInvoice(invoice('open', DECLINED));
    expect(factsOf(reading, asked(), new Date())).toEqual({
      payment_url: 'https://pay.test/in_1',
      failure: 'insufficient_funds',
    });
  });

  const OURS = { attempt_open: true };
  const LATER = { ...OURS, attempt_month: '2026-10' };

  it.each<[when: string, paid_at: string, charge: Partial<SlotCharge>, covers: string]>([
    ['in its month, however late the webhook comes', '2026-09-14T10:00:00Z', {}, '2026-09'],
    ['at the end of its month', '2026-09-30T23:59:59Z', {}, '2026-09'],
    ['by a person just after its month', '2026-10-01T00:00:30Z', {}, '2026-10'],
    ['by a person in a later month', '2026-11-02T10:00:00Z', {}, '2026-11'],
    ['by us, with a clock that is behind', '2026-10-01T00:00:30Z', OURS, '2026-09'],
    ['by us, with a clock that is ahead', '2026-08-31T23:59:59Z', OURS, '2026-09'],
    ['by us for a later month', '2026-10-01T00:00:30Z', LATER, '2026-10'],
    ['by us for a month that begins', '2026-09-30T23:59:59Z', LATER, '2026-10'],
  ])('that is paid %s (%s) covers the right month', (_when, paid_at, charge, covers) => {
    const paid = readInvoice(invoice('paid', null, Date.parse(paid_at) / 1_000));
    expect(factsOf(paid, asked(charge), new Date('2027-01-01T00:00:00Z')).covers).toBe(covers);
  });
});

function asked(change: Partial<SlotCharge> = {}) {
  return { month: '2026-09', attempt_month: null, attempt_open: false, ...change };
}
