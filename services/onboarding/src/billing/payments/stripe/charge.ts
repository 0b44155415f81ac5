// Takes one slot charge through customer, invoice, payment and outcome. Any worker may resume it
// after a crash at any point: only the invoice recorded in the row is ever paid.
import { ApiError } from '@bmg/common/errors';
import type { Logger } from '@bmg/common/telemetry';
import type { BillingAccount, BillingAccounts } from '../store/billing-accounts';
import type { Partners } from '../../../ground/partners';
import { chargeMachine, isUnpaid, type SlotCharge, type SlotCharges } from '../store/slot-charges';
import { eventOf, factsOf, type Reading } from './reading';
import { ProcessorAway, type Card, type StripeApi } from './api';

export interface ChargeDependencies {
  api: StripeApi;
  accounts: BillingAccounts;
  charges: SlotCharges;
  partners: Partners;
  now: () => Date;
  log: Logger;
}

interface PaymentSource {
  customer_id: string;
  card: Card | null;
  /** The month that the payment is for. */
  month: string;
}

/** Stripe keeps idempotency keys for a day: an older charge's invoice is looked up first. */
const KEY_LIFE_MS = 12 * 3_600_000;
const NO_CARD = 'no_card';

/** The partner's customer ID at Stripe. A crash can leave a second, unused customer. */
export async function customerOf(
  { api, accounts, partners }: ChargeDependencies,
  account: BillingAccount,
): Promise<string> {
  if (account.customer_id !== null) return account.customer_id;
  const { _id: partner_id, generation } = account;
  const name = (await partners.find(partner_id))?.name ?? partner_id;
  const made = await advanceOnSticky(
    () => api.createCustomer({ partner_id, name }, `customer/${partner_id}/${generation}`),
    () => accounts.nextGeneration(partner_id, generation),
  );
  return accounts.recordCustomer(partner_id, made);
}

/** Tries to pay with the card. Without one, leaves an open invoice that a person can pay. */
export async function charge(
  deps: ChargeDependencies,
  given: SlotCharge,
  { customer_id, card, month }: PaymentSource,
): Promise<SlotCharge> {
  const { api } = deps;
  const invoice_id = await invoiceOf(deps, given, customer_id);
  const row = { ...given, invoice_id };
  const reading = await openInvoice(deps, row, customer_id);
  if (reading.status !== 'open') return apply(deps, row, reading);
  if (!card) return apply(deps, row, { ...reading, outcome: 'declined', failure: NO_CARD });
  const { refusal, tried } = await pay(deps, row, card, month);
  const after = await api.read(invoice_id);
  // Stripe refused the request without making a payment, so the invoice itself shows no refusal.
  const untried = after.status === 'open' && after.outcome === 'untried';
  return apply(
    deps,
    tried,
    untried ? { ...after, outcome: 'declined', failure: refusal ?? 'refused' } : after,
  );
}

/** Applies the invoice's present state to the charge. */
export async function refresh(deps: ChargeDependencies, row: SlotCharge): Promise<SlotCharge> {
  return row.invoice_id === null ? row : apply(deps, row, await deps.api.read(row.invoice_id));
}

/** Voids a charge that no account waits for, so that its invoice cannot be paid. */
export async function voidCharge(deps: ChargeDependencies, row: SlotCharge): Promise<SlotCharge> {
  const { api, charges, now } = deps;
  if (row.invoice_id !== null) {
    const current = await refresh(deps, row);
    if (!isUnpaid(current)) return current;
    const reading = await api.read(row.invoice_id);
    await api.drop(row.invoice_id, reading);
    // A person may have paid at the same moment: the state at Stripe decides.
    if (reading.status !== 'draft') return refresh(deps, row);
  }
  await charges.move(row._id, 'void', {}, now());
  return (await charges.find(row._id)) as SlotCharge;
}

/** Stores the facts of an invoice with its charge. A final charge stays unchanged. */
export async function apply(
  { charges, now, log }: ChargeDependencies,
  row: SlotCharge,
  reading: Reading,
): Promise<SlotCharge> {
  const event = eventOf(reading);
  // A known state leaves the row unchanged, so that `updated_at` stays the time of the last
  // attempt.
  if (!event || (chargeMachine.to(event) === row.status && !row.attempt_open)) return row;
  const at = now();
  const facts = factsOf(reading, row, at);
  const moved = await charges.move(row._id, event, facts, at);
  if (!moved) return (await charges.find(row._id)) as SlotCharge;
  const { partner_id, month, slot } = row;
  log.info({ partner_id, month, slot, event, reason: reading.failure }, 'slot charge changed');
  const status = chargeMachine.to(event);
  return { ...row, ...facts, status, attempt_open: false, updated_at: at };
}

async function invoiceOf(
  { api, charges, now }: ChargeDependencies,
  row: SlotCharge,
  customer_id: string,
): Promise<string> {
  const { _id: charge_id, invoice_id, generation, created_at } = row;
  if (invoice_id !== null) return invoice_id;
  const may_exist = generation > 0 || now().getTime() - created_at.getTime() > KEY_LIFE_MS;
  const found = may_exist ? await api.findInvoice(customer_id, charge_id) : null;
  const made =
    found ??
    (await withKey(charges, row, 'invoice', (key) =>
      api.createInvoice({ charge_id, customer_id, description: describe(row) }, key),
    ));
  // An unrecorded draft is never finalised, so it costs nothing.
  if (await charges.recordInvoice(charge_id, made)) return made;
  const recorded = (await charges.find(charge_id))?.invoice_id;
  if (!recorded) throw new ProcessorAway(new Error('the charge was closed by another worker'));
  return recorded;
}

/** Turns the draft into an open invoice over exactly the price of a slot. */
async function openInvoice(
  { api, charges }: ChargeDependencies,
  row: SlotCharge & { invoice_id: string },
  customer_id: string,
): Promise<Reading> {
  const { invoice_id, cents } = row;
  let reading = await api.read(invoice_id);
  if (reading.status === 'draft') {
    if (reading.total_cents === 0) {
      const line = { customer_id, invoice_id, cents, description: describe(row) };
      await withKey(charges, row, `line/${invoice_id}`, (key) => api.addLine(line, key));
    }
    await withKey(charges, row, `finalize/${invoice_id}`, (key) => api.finalize(invoice_id, key));
    reading = await api.read(invoice_id);
  }
  if (reading.total_cents === cents || reading.status === 'paid') return reading;
  // A lost answer can leave two lines on the invoice: drop it and start again.
  if (reading.status !== 'void') await api.drop(invoice_id, reading);
  await charges.detachInvoice(row._id, invoice_id);
  throw new ProcessorAway(new Error(`an invoice over ${reading.total_cents} cents`));
}

async function pay(
  { api, charges }: ChargeDependencies,
  row: SlotCharge & { invoice_id: string },
  card: Card,
  month: string,
): Promise<{ refusal: string | null; tried: SlotCharge }> {
  const tried = await charges.startPaymentAttempt(row, { payment_method: card.id, month });
  const { attempts, payment_method, attempt_open, status } = tried;
  // Another worker has finished the attempt.
  if (!attempt_open || payment_method === null || status === 'paid') {
    return { refusal: null, tried };
  }
  const { invoice_id } = row;
  const refusal = await advanceOnSticky(
    () => api.pay({ invoice_id, payment_method }, `${row._id}/pay/${invoice_id}/${attempts}`),
    () => charges.closePaymentAttempt(row._id, attempts),
  );
  return { refusal, tried };
}

/** Runs `work` with the step's idempotency key, the same one for every repetition. */
const withKey = <T>(
  charges: SlotCharges,
  { _id, generation }: SlotCharge,
  step: string,
  work: (key: string) => Promise<T>,
): Promise<T> =>
  advanceOnSticky(
    () => work(`${_id}/${step}/${generation}`),
    () => charges.nextGeneration(_id, generation),
  );

/** Runs `advance` if Stripe would repeat the failure for this key: the next try has another. */
async function advanceOnSticky<T>(
  work: () => Promise<T>,
  advance: () => Promise<unknown>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProcessorAway && error.sticky) await advance();
    throw error;
  }
}

const describe = ({ slot, month }: SlotCharge): string =>
  `Business accounts, slot ${slot} of ${month} (up to 3 accounts)`;

export const cardRequired = (): ApiError =>
  new ApiError('CARD_REQUIRED', 'there is no card on file: add one, then register again');
