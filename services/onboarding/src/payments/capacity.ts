// Who may send: what a partner has paid for covers its accounts in the order in which they came. Pure
// rules, made so that applying them twice, or after a crash, changes nothing more.
import { slotsFor, WABAS_PER_SLOT } from './slots';
import { activeWabas, type Partner } from '../store/partners';
import type { WaitingBilling } from '../store/clients';
import { isUnpaid, type SlotCharge } from '../store/slot-charges';

export type Places = Pick<Partner, 'wabas' | 'waiting_wabas'>;

/** Slots that are paid for in the month, whenever they were asked for. */
export const paidSlots = (charges: SlotCharge[], month: string): number =>
  charges.filter(({ status, covers }) => status === 'paid' && covers === month).length;

/** Slots of the month whose payment has not come to an answer: they hold nobody up yet. */
export const undecidedSlots = (charges: SlotCharge[], month: string): number =>
  charges.filter((charge) => charge.status === 'intended' && charge.month === month).length;

/**
 * The numbers of the slots that the month still has to ask for, to have `needed` in all. Each is asked for
 * once: one that was refused, or dropped because nobody waits for it any more, is not asked for again.
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
 * Which accounts wait. The ones that came last lose their place first; the ones that have waited longest get
 * it first, and only where it is paid for.
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

/** Charges that would let the waiting accounts send, the oldest first. */
export function wantedCharges(partner: Places, charges: SlotCharge[], month: string): SlotCharge[] {
  const wanted = Math.max(0, slotsFor(partner.wabas.length) - paidSlots(charges, month));
  return charges.filter(isUnpaid).slice(0, wanted);
}

/** What each waiting account is told: the state of the invoice that it waits for. */
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
