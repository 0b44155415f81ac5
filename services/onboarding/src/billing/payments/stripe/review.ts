// Reviews one partner's bill: charges the month's slots, reads the state of open invoices, and
// updates which accounts may send. Idempotent, so it runs whenever something may have changed: at
// the turn of the month, after a webhook, after a crash.
import { partnerVersionKey, wabaVersionKey, type Versions } from '@bmg/common/directory';
import { peakOf, monthOf, SLOT_CENTS, slotsFor } from '../../../ground/slots';
import type { BillingAccount } from '../store/billing-accounts';
import type { Clients } from '../../../ground/clients';
import type { Partner } from '../../../ground/partners';
import { isUnpaid, type SlotCharge } from '../store/slot-charges';
import {
  chooseWaiting,
  missingSlots,
  paidSlots,
  undecidedSlots,
  waitingBilling,
  wantedCharges,
} from '../capacity';
import { voidCharge, charge, customerOf, refresh, type ChargeDependencies } from './charge';
import { ProcessorAway, type Card } from './api';

export interface ReviewDependencies extends ChargeDependencies {
  clients: Clients;
  versions: Pick<Versions, 'bump'>;
}

const MINUTE_MS = 60_000;
const SOON_MS = MINUTE_MS;
const OPEN_MS = 10 * MINUTE_MS;
/** Finds any missed change after this long at the latest. */
const IDLE_MS = 6 * 60 * MINUTE_MS;
/** How long the invoice of a refused registration stays open for a repeated one. */
const ABANDONED_MS = 60 * MINUTE_MS;

export const nextMonth = (now: Date): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));

/** Returns the time of the next review. */
export async function review(deps: ReviewDependencies, account: BillingAccount): Promise<Date> {
  const { partners, now, log } = deps;
  const partner_id = account._id;
  // One time for the whole review: one that runs past midnight is due again at once.
  const at = now();
  const month = monthOf(at);
  const partner = await partners.find(partner_id);
  if (!partner) return nextMonth(at);
  // An inactive partner is not charged, and its accounts are unchanged.
  if (partner.status !== 'active') return soonest(at, IDLE_MS);
  const bill = await openBill(deps, partner, month);
  let away: unknown;
  try {
    await collect(deps, bill, account);
  } catch (error) {
    if (!(error instanceof ProcessorAway)) throw error;
    away = error;
    log.warn({ err: error, partner_id }, 'payment processor unavailable, review postponed');
  }
  const settled = (await applyBilling(deps, bill)) ?? partner;
  away ??= await dropUnwanted(deps, { ...bill, partner: settled });
  const open = bill.rows().some(isUnpaid) || (settled.waiting_wabas ?? []).length > 0;
  return soonest(at, away ? SOON_MS : open ? OPEN_MS : IDLE_MS);
}

const soonest = (now: Date, wait_ms: number): Date => {
  const next = nextMonth(now);
  return next.getTime() - now.getTime() < wait_ms ? next : new Date(now.getTime() + wait_ms);
};

interface Bill {
  partner: Partner;
  month: string;
  /** Slots that the month's peak needs. */
  needed: number;
  /** The relevant charges as last read, in order. */
  rows(): SlotCharge[];
  learn(row: SlotCharge): void;
}

/** Stores the rows of the month's slots before any request to the processor. */
async function openBill(
  { charges, now }: ReviewDependencies,
  partner: Partner,
  month: string,
): Promise<Bill> {
  const needed = slotsFor(peakOf(partner.months ?? {}, month));
  const known = await charges.relevant(partner._id, month);
  for (const slot of missingSlots(known, month, needed)) {
    known.push(await charges.intend(partner._id, month, slot, { cents: SLOT_CENTS, at: now() }));
  }
  const rows = new Map(known.map((row) => [row._id, row]));
  return {
    partner,
    month,
    needed,
    rows: () => [...rows.values()],
    learn: (row) => void rows.set(row._id, row),
  };
}

/** Charges the month's slots once, and refused charges again once there is a new card. */
async function collect(
  deps: ReviewDependencies,
  { partner, month, needed, rows, learn }: Bill,
  account: BillingAccount,
): Promise<void> {
  const { accounts, api } = deps;
  for (const row of rows().filter(isUnpaid)) learn(await refresh(deps, row));
  const retry = account.retry_at;
  const own = rows().filter((row) => row.status === 'intended' && row.month === month);
  const refused = retry ? wantedCharges(partner, rows(), month) : [];
  const wanted = Math.max(needed, retry ? slotsFor(partner.wabas.length) : 0);
  let using: { customer_id: string; card: Card | null } | undefined;
  for (const row of new Set([...own, ...refused])) {
    if (paidSlots(rows(), month) >= wanted) break;
    if (!using) {
      const customer_id = await customerOf(deps, account);
      using = { customer_id, card: await api.cardOf(customer_id) };
    }
    learn(await charge(deps, row, { ...using, month }));
  }
  if (retry) await accounts.clearRetry(partner._id, retry);
}

/** Recomputes which accounts may send, updates their clients, and makes caches stale. */
async function applyBilling(
  { partners, clients, versions, log }: ReviewDependencies,
  bill: Bill,
): Promise<Partner | null> {
  const { month } = bill;
  const partner_id = bill.partner._id;
  const rows = bill.rows();
  const paid = paidSlots(rows, month);
  const undecided = undecidedSlots(rows, month);
  const partner = await partners.chooseWaiting(partner_id, month, (current) =>
    chooseWaiting(current, { paid, undecided }),
  );
  if (!partner) return null;
  const waiting = waitingBilling(partner, rows, month);
  const changed = await clients.setBilling(partner_id, waiting);
  for (const waba_id of changed) {
    const billing = waiting.get(waba_id)?.billing;
    if (billing) {
      log.warn({ partner_id, waba_id, billing }, 'business account stopped: payment needed');
    } else {
      log.info({ partner_id, waba_id, reason: 'invoice paid' }, 'business account is active again');
    }
  }
  // Even without a change: a crash may have come between a stored change and its version bump.
  await versions.bump([partnerVersionKey(partner_id), ...changed.map(wabaVersionKey)]);
  return partner;
}

/** Voids invoices that no account waits for. Returns the processor's failure, if any. */
async function dropUnwanted(
  deps: ReviewDependencies,
  { partner, month, rows }: Bill,
): Promise<unknown> {
  const before = deps.now().getTime() - ABANDONED_MS;
  const wanted = new Set(wantedCharges(partner, rows(), month).map(({ _id }) => _id));
  const unwanted = rows().filter(
    (row) => isUnpaid(row) && !wanted.has(row._id) && row.updated_at.getTime() < before,
  );
  try {
    for (const row of unwanted) await voidCharge(deps, row);
    return undefined;
  } catch (error) {
    if (error instanceof ProcessorAway) return error;
    throw error;
  }
}
