// Stripe's webhooks, which are signed, may be repeated and arrive in any order. Each is applied
// once. Only "paid" is taken from the event itself; after every other event the invoice's present
// state is read.
import type Stripe from 'stripe';
import type { PaymentEvents } from '../store/payment-events';
import { idOf } from './api';
import { apply, refresh, type ChargeDependencies } from './charge';
import { readInvoice } from './reading';

export interface WebhookDependencies extends ChargeDependencies {
  paymentEvents: PaymentEvents;
  /** Schedules a review of the partner's bill. */
  requestReview: (partner_id: string) => Promise<void>;
}

const PAID = ['invoice.paid', 'invoice.payment_succeeded'];
const DOUBTFUL = [
  'invoice.payment_failed',
  'invoice.payment_action_required',
  'invoice.voided',
  'invoice.marked_uncollectible',
];

/** Throws if the event cannot be verified or applied: Stripe then sends it again. */
export async function handlePaymentEvent(
  deps: WebhookDependencies,
  { body, signature }: { body: Buffer; signature: string },
): Promise<void> {
  const { api, paymentEvents, now, log } = deps;
  const event = api.verify(body, signature);
  const { id, type } = event;
  if (await paymentEvents.begin({ id, type }, now())) {
    log.info({ event_id: id, type }, 'repeated payment event ignored');
    return;
  }
  if (PAID.includes(type) || DOUBTFUL.includes(type)) {
    await applyInvoice(deps, event, event.data.object as Stripe.Invoice);
  } else if (type === 'checkout.session.completed') {
    await adoptCard(deps, event.data.object as Stripe.Checkout.Session);
  } else {
    log.info({ event_id: id, type }, 'unused payment event ignored');
  }
  await paymentEvents.finish(id, now());
}

async function applyInvoice(
  deps: WebhookDependencies,
  { id, type }: Pick<Stripe.Event, 'id' | 'type'>,
  invoice: Stripe.Invoice,
): Promise<void> {
  const { charges, requestReview, log } = deps;
  const charge_id = invoice.metadata?.['charge_id'];
  const row = charge_id === undefined ? null : await charges.find(charge_id);
  // Another product's invoice in the same Stripe account, or a draft that was not recorded.
  if (!row || row.invoice_id !== invoice.id) {
    log.info({ event_id: id, type }, 'payment event of a foreign invoice ignored');
    return;
  }
  const after =
    PAID.includes(type) && invoice.status === 'paid'
      ? await apply(deps, row, readInvoice(invoice))
      : await refresh(deps, row);
  const { partner_id, month, slot, status } = after;
  log.info({ event_id: id, type, partner_id, month, slot, status }, 'payment event applied');
  await requestReview(partner_id);
}

/** A card was put on file: refused charges are tried again with it. */
async function adoptCard(
  { api, accounts, requestReview, now, log }: WebhookDependencies,
  { mode, customer, setup_intent }: Stripe.Checkout.Session,
): Promise<void> {
  const [customer_id, setup_id] = [idOf(customer), idOf(setup_intent)];
  if (mode !== 'setup' || customer_id === undefined || setup_id === undefined) return;
  const account = await accounts.findByCustomer(customer_id);
  if (!account) return;
  await api.adoptCard(customer_id, setup_id);
  await accounts.requestRetry(account._id, now());
  log.info({ partner_id: account._id }, 'card put on file');
  await requestReview(account._id);
}
