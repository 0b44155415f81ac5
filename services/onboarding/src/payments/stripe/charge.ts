// Brings one slot charge as far as it goes: customer, invoice, payment, outcome. It may die at any point and
// be started again, by whomever: what is paid is only the one invoice that the row has recorded before.
import { ApiError } from '@bmg/common/errors';
import type { Logger } from '@bmg/common/telemetry';
import type { BillingAccount, BillingAccounts } from '../../store/billing-accounts';
import type { Partners } from '../../store/partners';
import {
  chargeMachine,
  isUnpaid,
  type SlotCharge,
  type SlotCharges,
} from '../../store/slot-charges';
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

export interface Purse {
  customer_id: string;
  card: Card | null;
  /** The month that is being paid for. */
  month: string;
}

/** The processor forgets idempotency keys after a day: what is older is looked for before it is made. */
const KEYS_LAST_MS = 12 * 3_600_000;
const NO_CARD = 'no_card';

/** The partner's customer at the processor. A second one, made by a crash, would stay empty. */
export async function customerOf(
  { api, accounts, partners }: ChargeDependencies,
  account: BillingAccount,
): Promise<string> {
  if (account.customer_id !== null) return account.customer_id;
  const { _id: partner_id, generation } = account;
  const name = (await partners.find(partner_id))?.name ?? partner_id;
  const made = await unlessSticky(
    () => api.createCustomer({ partner_id, name }, `customer/${partner_id}/${generation}`),
    () => accounts.nextGeneration(partner_id, generation),
  );
  return accounts.recordCustomer(partner_id, made);
}

/** Tries to have the charge paid with the card; without one there is an invoice that a person can pay. */
export async function charge(
  deps: ChargeDependencies,
  given: SlotCharge,
  { customer_id, card, month }: Purse,
): Promise<SlotCharge> {
  const { api } = deps;
  const invoice_id = await invoiceOf(deps, given, customer_id);
  const row = { ...given, invoice_id };
  const reading = await openInvoice(deps, row, customer_id);
  if (reading.status !== 'open') return apply(deps, row, reading);
  if (!card) return apply(deps, row, { ...reading, outcome: 'declined', failure: NO_CARD });
  const { refusal, tried } = await pay(deps, row, card, month);
  const after = await api.read(invoice_id);
  // The processor refused before it made a payment of it.
  const untried = after.status === 'open' && after.outcome === 'untried';
  return apply(
    deps,
    tried,
    untried ? { ...after, outcome: 'declined', failure: refusal ?? 'refused' } : after,
  );
}

/** What became of the invoice while nobody looked. */
export async function refresh(deps: ChargeDependencies, row: SlotCharge): Promise<SlotCharge> {
  return row.invoice_id === null ? row : apply(deps, row, await deps.api.read(row.invoice_id));
}

/** Nobody needs the slot any more: its invoice is not left lying about for a person to pay. */
export async function abandon(deps: ChargeDependencies, row: SlotCharge): Promise<SlotCharge> {
  const { api, charges, now } = deps;
  if (row.invoice_id !== null) {
    const current = await refresh(deps, row);
    if (!isUnpaid(current)) return current;
    const reading = await api.read(row.invoice_id);
    await api.drop(row.invoice_id, reading);
    // A person may have paid in the same moment: the processor's word holds.
    if (reading.status !== 'draft') return refresh(deps, row);
  }
  await charges.move(row._id, 'void', {}, now());
  return (await charges.find(row._id)) as SlotCharge;
}

/** Final states stay: what has been learnt late, or twice, changes nothing. */
export async function apply(
  { charges, now, log }: ChargeDependencies,
  row: SlotCharge,
  reading: Reading,
): Promise<SlotCharge> {
  const event = eventOf(reading);
  // What is known already leaves the row as it is, with the time of its last try.
  if (!event || (chargeMachine.to(event) === row.status && !row.attempt_open)) return row;
  const at = now();
  const facts = factsOf(reading, row, at);
  const moved = await charges.move(row._id, event, facts, at);
  if (!moved) return (await charges.find(row._id)) as SlotCharge;
  const { partner_id, month, slot } = row;
  log.info({ partner_id, month, slot, event, reason: reading.failure }, 'slot charge');
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
  const doubtful = generation > 0 || now().getTime() - created_at.getTime() > KEYS_LAST_MS;
  const found = doubtful ? await api.findInvoice(customer_id, charge_id) : null;
  const made =
    found ??
    (await once(charges, row, 'invoice', (key) =>
      api.createInvoice({ charge_id, customer_id, description: describe(row) }, key),
    ));
  // A draft that is not recorded is never finalised, so that it costs nobody anything.
  if (await charges.recordInvoice(charge_id, made)) return made;
  const recorded = (await charges.find(charge_id))?.invoice_id;
  if (!recorded) throw new ProcessorAway(new Error('the charge has come to its end meanwhile'));
  return recorded;
}

/** From a draft to an invoice over exactly the price of a slot. */
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
      await once(charges, row, `line/${invoice_id}`, (key) => api.addLine(line, key));
    }
    await once(charges, row, `finalize/${invoice_id}`, (key) => api.finalize(invoice_id, key));
    reading = await api.read(invoice_id);
  }
  if (reading.total_cents === cents || reading.status === 'paid') return reading;
  // Two lines, after a line whose answer was lost: nobody is asked to pay that.
  if (reading.status !== 'void') await api.drop(invoice_id, reading);
  await charges.forgetInvoice(row._id, invoice_id);
  throw new ProcessorAway(new Error(`an invoice over ${reading.total_cents} cents`));
}

async function pay(
  { api, charges }: ChargeDependencies,
  row: SlotCharge & { invoice_id: string },
  card: Card,
  month: string,
): Promise<{ refusal: string | null; tried: SlotCharge }> {
  const tried = await charges.startAttempt(row, { payment_method: card.id, month });
  const { attempts, payment_method, attempt_open, status } = tried;
  // Another worker has brought it to its end meanwhile.
  if (!attempt_open || payment_method === null || status === 'paid') {
    return { refusal: null, tried };
  }
  const { invoice_id } = row;
  const refusal = await unlessSticky(
    () => api.pay({ invoice_id, payment_method }, `${row._id}/pay/${invoice_id}/${attempts}`),
    () => charges.closeAttempt(row._id, attempts),
  );
  return { refusal, tried };
}

/** The same request under the same key, however often it is made. */
const once = <T>(
  charges: SlotCharges,
  { _id, generation }: SlotCharge,
  step: string,
  work: (key: string) => Promise<T>,
): Promise<T> =>
  unlessSticky(
    () => work(`${_id}/${step}/${generation}`),
    () => charges.nextGeneration(_id, generation),
  );

async function unlessSticky<T>(work: () => Promise<T>, next: () => Promise<void>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProcessorAway && error.sticky) await next();
    throw error;
  }
}

const describe = ({ slot, month }: SlotCharge): string =>
  `Business accounts, slot ${slot} of ${month} (up to 3 accounts)`;

export const cardRequired = (): ApiError =>
  new ApiError('CARD_REQUIRED', 'there is no card on file: add one, then register again');
