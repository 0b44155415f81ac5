// Looks at one partner's bill: asks for the month's slots, learns what became of open invoices, and brings
// who may send in line with what is paid. Doing it again changes nothing, so that it is simply done whenever
// something may have changed: at the turn of the month, after a webhook, after a crash.
import { partnerVersionKey, wabaVersionKey, type Versions } from '@bmg/common/directory';
import { peakOf, monthOf, SLOT_CENTS, slotsFor } from '../slots';
import type { BillingAccount } from '../../store/billing-accounts';
import type { Clients } from '../../store/clients';
import type { Partner } from '../../store/partners';
import { isUnpaid, type SlotCharge } from '../../store/slot-charges';
import {
  chooseWaiting,
  missingSlots,
  paidSlots,
  undecidedSlots,
  waitingBilling,
  wantedCharges,
} from '../capacity';
import { abandon, charge, customerOf, refresh, type ChargeDependencies } from './charge';
import { ProcessorAway, type Card } from './api';

export interface ReviewDependencies extends ChargeDependencies {
  clients: Clients;
  versions: Pick<Versions, 'bump'>;
}

const MINUTE_MS = 60_000;
const SOON_MS = MINUTE_MS;
const OPEN_MS = 10 * MINUTE_MS;
/** Whatever was missed is found after this at the latest. */
const LOOK_MS = 6 * 60 * MINUTE_MS;
/** A registration that was refused may come again within this; then its invoice is dropped. */
const ABANDONED_MS = 60 * MINUTE_MS;

export const nextMonth = (now: Date): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));

/** Answers when to look again. */
export async function review(deps: ReviewDependencies, account: BillingAccount): Promise<Date> {
  const { partners, now, log } = deps;
  const partner_id = account._id;
  // One time for all of it: a review that goes on past midnight is due again at once.
  const at = now();
  const month = monthOf(at);
  const partner = await partners.find(partner_id);
  if (!partner) return nextMonth(at);
  // Nothing is asked of a partner that may not do business, and nothing is taken from it.
  if (partner.status !== 'active') return soonest(at, LOOK_MS);
  const bill = await openBill(deps, partner, month);
  let away: unknown;
  try {
    await collect(deps, bill, account);
  } catch (error) {
    if (!(error instanceof ProcessorAway)) throw error;
    away = error;
    log.warn({ err: error, partner_id }, 'the payment processor is away, the bill waits');
  }
  const settled = (await settle(deps, bill)) ?? partner;
  away ??= await dropUnwanted(deps, { ...bill, partner: settled });
  const open = bill.rows().some(isUnpaid) || (settled.waiting_wabas ?? []).length > 0;
  return soonest(at, away ? SOON_MS : open ? OPEN_MS : LOOK_MS);
}

const soonest = (now: Date, wait_ms: number): Date => {
  const next = nextMonth(now);
  return next.getTime() - now.getTime() < wait_ms ? next : new Date(now.getTime() + wait_ms);
};

interface Bill {
  partner: Partner;
  month: string;
  /** What the month needs by its peak. */
  needed: number;
  /** As they are known, in order. */
  rows(): SlotCharge[];
  learn(row: SlotCharge): void;
}

/** The rows of the month's slots are there before the processor is asked for anything. */
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

/** Has paid what can be paid: the month's slots once, and what was refused once there is a new card. */
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
  if (retry) await accounts.retried(partner._id, retry);
}

/** Who may send follows from what is paid; clients and caches follow from that. */
async function settle(
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
    if (billing) log.warn({ partner_id, waba_id, billing }, 'a business account may not send');
    else
      log.info(
        { partner_id, waba_id, reason: 'invoice paid' },
        'a business account is active again',
      );
  }
  // Also where nothing has changed: a crash may have come between the change and its announcement.
  await versions.bump([partnerVersionKey(partner_id), ...changed.map(wabaVersionKey)]);
  return partner;
}

/** Invoices that no account waits for. Answers what the processor failed with, if it did. */
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
    for (const row of unwanted) await abandon(deps, row);
    return undefined;
  } catch (error) {
    if (error instanceof ProcessorAway) return error;
    throw error;
  }
}
