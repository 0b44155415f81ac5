// Which accounts may send: the paid billing slots cover a partner's accounts in the order of their
// registration. Pure, idempotent rules: applying them again, after a crash for example, changes
// nothing.
import { slotsFor, WABAS_PER_SLOT } from '../../ground/slots';
import { activeWabas, type Partner } from '../../ground/partners';
import type { WaitingBilling } from '../../ground/clients';
import { isUnpaid, type SlotCharge } from './store/slot-charges';

export type Places = Pick<Partner, 'wabas' | 'waiting_wabas'>;

/** Slots whose payment covers the month, whichever month they were charged for. */
export const paidSlots = (charges: SlotCharge[], month: string): number =>
  charges.filter(({ status, covers }) => status === 'paid' && covers === month).length;

/** Slots of the month whose payment has no outcome yet: their accounts may send until it has. */
export const undecidedSlots = (charges: SlotCharge[], month: string): number =>
  charges.filter((charge) => charge.status === 'intended' && charge.month === month).length;

/**
 * The numbers of the slots to charge so that the month has `needed` in all. Each slot is charged
 * once: one that was refused, or voided because no account waits for it, is not charged again.
 */
export function missingSlots(charges: SlotCharge[], month: string, needed: number): number[] {
  const own = charges.filter((charge) => charge.month === month);
  const late = charges.filter(
    (charge) => charge.month !== month && charge.status === 'paid' && charge.covers === month,
  ).length;
  const missing = Math.max(0, needed - late - own.length);
  return Array.from({ length: missing }, (_, index) => own.length + index + 1);
}

/**
 * The accounts that wait for a payment, in order. The newest active accounts stop first. The
 * accounts that have waited longest resume first, and only in a paid slot.
 */
export function chooseWaiting(
  partner: Places,
  { paid, undecided }: { paid: number; undecided: number },
): string[] {
  const { wabas, waiting_wabas = [] } = partner;
  const active = activeWabas(partner);
  const held = (paid + undecided) * WABAS_PER_SLOT;
  const losing = active.slice(held);
  const free = Math.max(0, paid * WABAS_PER_SLOT - active.length);
  const reviving = wabas.filter((waba) => waiting_wabas.includes(waba)).slice(0, free);
  return wabas.filter(
    (waba) => losing.includes(waba) || (waiting_wabas.includes(waba) && !reviving.includes(waba)),
  );
}

/** The unpaid charges that the waiting accounts need, the oldest first. */
export function wantedCharges(partner: Places, charges: SlotCharge[], month: string): SlotCharge[] {
  const wanted = Math.max(0, slotsFor(partner.wabas.length) - paidSlots(charges, month));
  return charges.filter(isUnpaid).slice(0, wanted);
}

/** The billing state of each waiting account: that of the invoice it waits for. */
export function waitingBilling(
  partner: Places,
  charges: SlotCharge[],
  month: string,
): Map<string, WaitingBilling> {
  const { waiting_wabas = [] } = partner;
  const wanted = wantedCharges(partner, charges, month);
  const free = Math.max(
    0,
    paidSlots(charges, month) * WABAS_PER_SLOT - activeWabas(partner).length,
  );
  return new Map(
    waiting_wabas.map((waba, index) => {
      const slot = Math.floor(Math.max(0, index - free) / WABAS_PER_SLOT);
      const charge = wanted[slot] ?? wanted.at(-1);
      return [waba, billingOf(charge)];
    }),
  );
}

const billingOf = (charge: SlotCharge | undefined): WaitingBilling => ({
  billing: charge?.status === 'action_required' ? 'payment_action_required' : 'billing_failed',
  payment_url: charge?.payment_url ?? null,
});
