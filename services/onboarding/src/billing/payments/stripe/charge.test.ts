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

describe('an invoice', () => {
  it.each([
    ['draft', null, null],
    ['open', null, null],
    ['open', { status: 'requires_payment_method', last_payment_error: null }, null],
    ['open', { status: 'processing', last_payment_error: null }, null],
    ['open', { status: 'requires_action', last_payment_error: null }, 'ask'],
    [
      'open',
      {
        status: 'requires_payment_method',
        last_payment_error: { code: 'authentication_required' },
      },
      'ask',
    ],
    [
      'open',
      {
        status: 'requires_payment_method',
        last_payment_error: { code: 'card_declined', decline_code: 'insufficient_funds' },
      },
      'decline',
    ],
    ['uncollectible', null, null],
    ['paid', { status: 'succeeded', last_payment_error: null }, 'pay'],
    ['void', null, 'void'],
  ] as const)('that is %s, its payment %j, means %s', (status, intent, event) => {
    expect(eventOf(readInvoice(invoice(status, intent)))).toBe(event);
  });

  it('yields the reason of a refusal and the page to pay on', () => {
    const intent = {
      status: 'requires_payment_method',
      last_payment_error: { code: 'card_declined', decline_code: 'insufficient_funds' },
    };
    const reading = readInvoice(invoice('open', intent));
    expect(factsOf(reading, asked(), new Date())).toEqual({
      payment_url: 'https://pay.test/in_1',
      failure: 'insufficient_funds',
    });
  });

  const covered = (paid_at: string, charge = asked()): string | null | undefined => {
    const paid = readInvoice(invoice('paid', null, Date.parse(paid_at) / 1_000));
    return factsOf(paid, charge, new Date('2027-01-01T00:00:00Z')).covers;
  };

  it('that is paid in its month covers it, however late the webhook comes', () => {
    expect(covered('2026-09-14T10:00:00Z')).toBe('2026-09');
    expect(covered('2026-09-30T23:59:59Z')).toBe('2026-09');
  });

  it('that a person pays in a later month covers the later month', () => {
    expect(covered('2026-10-01T00:00:30Z')).toBe('2026-10');
    expect(covered('2026-11-02T10:00:00Z')).toBe('2026-11');
  });

  it('that we pay around midnight covers the charged month despite clock differences', () => {
    expect(covered('2026-10-01T00:00:30Z', asked({ attempt_open: true }))).toBe('2026-09');
    expect(covered('2026-08-31T23:59:59Z', asked({ attempt_open: true }))).toBe('2026-09');
    const later = asked({ attempt_open: true, attempt_month: '2026-10' });
    expect(covered('2026-10-01T00:00:30Z', later)).toBe('2026-10');
    expect(covered('2026-09-30T23:59:59Z', later)).toBe('2026-10');
  });
});

function asked(change: Partial<SlotCharge> = {}) {
  return { month: '2026-09', attempt_month: null, attempt_open: false, ...change };
}
