// The processor's webhooks: signed, repeated, and in any order. Each is applied once; only that an invoice is
// paid is believed as it is told, anything else makes us ask for the invoice's present state.
import type Stripe from 'stripe';
import type { PaymentEvents } from '../../store/payment-events';
import { apply, refresh, type ChargeDependencies } from './charge';
import { readInvoice } from './reading';

export interface EventDependencies extends ChargeDependencies {
  events: PaymentEvents;
  /** Has the partner's bill looked at soon. */
  look: (partner_id: string) => Promise<void>;
}

const PAID = ['invoice.paid', 'invoice.payment_succeeded'];
const DOUBTFUL = [
  'invoice.payment_failed',
  'invoice.payment_action_required',
  'invoice.voided',
  'invoice.marked_uncollectible',
];

/** Throws where the event is not what it says, or could not be applied: then the processor sends it again. */
export async function handlePaymentEvent(
  deps: EventDependencies,
  { body, signature }: { body: Buffer; signature: string },
): Promise<void> {
  const { api, events, now, log } = deps;
  const event = api.verify(body, signature);
  const { id, type } = event;
  if (await events.begin({ id, type }, now())) {
    log.info({ event_id: id, type }, 'a payment event was repeated');
    return;
  }
  if (PAID.includes(type) || DOUBTFUL.includes(type)) {
    await applyInvoice(deps, event, event.data.object as Stripe.Invoice);
  } else if (type === 'checkout.session.completed') {
    await adoptCard(deps, event.data.object as Stripe.Checkout.Session);
  } else {
    log.info({ event_id: id, type }, 'a payment event of no concern');
  }
  await events.finish(id, now());
}

async function applyInvoice(
  deps: EventDependencies,
  { id, type }: Pick<Stripe.Event, 'id' | 'type'>,
  invoice: Stripe.Invoice,
): Promise<void> {
  const { charges, look, log } = deps;
  const charge_id = invoice.metadata?.['charge_id'];
  const row = charge_id === undefined ? null : await charges.find(charge_id);
  // Another product's invoice under the same processor account, or a draft that was not recorded.
  if (!row || row.invoice_id !== invoice.id) {
    log.info({ event_id: id, type }, 'a payment event of an invoice that is not one of ours');
    return;
  }
  const after =
    PAID.includes(type) && invoice.status === 'paid'
      ? await apply(deps, row, readInvoice(invoice))
      : await refresh(deps, row);
  const { partner_id, month, slot, status } = after;
  log.info({ event_id: id, type, partner_id, month, slot, status }, 'payment event');
  await look(partner_id);
}

/** A card has been put on file: what was refused before is tried again with it. */
async function adoptCard(
  { api, accounts, look, now, log }: EventDependencies,
  { mode, customer, setup_intent }: Stripe.Checkout.Session,
): Promise<void> {
  const customer_id = typeof customer === 'string' ? customer : customer?.id;
  const setup_id = typeof setup_intent === 'string' ? setup_intent : setup_intent?.id;
  if (mode !== 'setup' || customer_id === undefined || setup_id === undefined) return;
  const account = await accounts.findByCustomer(customer_id);
  if (!account) return;
  await api.adoptCard(customer_id, setup_id);
  await accounts.requestRetry(account._id, now());
  log.info({ partner_id: account._id }, 'a card was put on file');
  await look(account._id);
}
