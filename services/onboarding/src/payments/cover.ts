// What a registration needs before its account may be active: room in a slot that is paid for. Where there
// is none, the next slot is charged first (contract, Commercial terms).
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import { SLOT_CENTS, slotsFor, WABAS_PER_SLOT } from '../slots';
import { activeWabas } from '../store/partners';
import { isUnpaid, type SlotCharge } from '../store/slot-charges';
import { paidSlots } from './capacity';
import { cardRequired, charge, customerOf, refresh, type ChargeDependencies } from './charge';
import { withHold } from './hold';
import type { Cover, Purchase } from './payments';
import { nextMonth } from './review';

/** More slots than this are never bought by one registration. */
const SLOTS_MAX = 1_000;

export async function cover(
  deps: ChargeDependencies,
  purchase: Purchase,
  call: Call,
): Promise<Cover> {
  const { accounts, now } = deps;
  const { ready } = await look(deps, purchase);
  if (ready) return ready;
  const account = await accounts.ensure(purchase.partner_id, nextMonth(now()), now());
  return withHold(deps, purchase.partner_id, call, async () =>
    buy(deps, purchase, await customerOf(deps, account)),
  );
}

async function buy(
  deps: ChargeDependencies,
  purchase: Purchase,
  customer_id: string,
): Promise<Cover> {
  for (let bought = 0; bought < SLOTS_MAX; bought += 1) {
    const { ready, rows } = await look(deps, purchase);
    if (ready) return ready;
    const open = rows.find(isUnpaid);
    const card = await deps.api.cardOf(customer_id);
    if (!card) throw cardRequired();
    if (open?.status === 'action_required') {
      const known = await refresh(deps, open);
      if (known.status === 'action_required' && known.payment_method === card.id) {
        return { billing: 'payment_action_required', payment_url: known.payment_url };
      }
      if (!isUnpaid(known)) continue;
    }
    const row = open ?? (await intendNext(deps, purchase, rows));
    const after = await charge(deps, row, { customer_id, card, month: purchase.month });
    if (after.status === 'declined') throw refused(after);
    if (after.status === 'action_required') {
      return { billing: 'payment_action_required', payment_url: after.payment_url };
    }
  }
  throw new Error('a registration needs more slots than a partner can have');
}

/** How the account may start where nothing has to be paid; null where something has. */
async function look(
  { partners, charges }: ChargeDependencies,
  { partner_id, waba_id, month }: Purchase,
): Promise<{ ready: Cover | null; rows: SlotCharge[] }> {
  const partner = await partners.find(partner_id);
  if (!partner) throw new ApiError('INVALID_PARTNER_KEY', 'the partner is not known');
  // It may send already: another number of it, or a new token.
  if (activeWabas(partner).includes(waba_id)) {
    return { ready: { billing: 'active', active_max: Infinity }, rows: [] };
  }
  const { wabas } = partner;
  const rows = await charges.relevant(partner_id, month);
  const paid = paidSlots(rows, month);
  // Accounts that wait come first: what they wait for is paid before another one becomes active.
  const places = wabas.includes(waba_id) ? wabas.length : wabas.length + 1;
  const isPaid = slotsFor(places) <= paid;
  return {
    ready: isPaid ? { billing: 'active', active_max: paid * WABAS_PER_SLOT } : null,
    rows,
  };
}

const intendNext = (
  { charges, now }: ChargeDependencies,
  { partner_id, month }: Purchase,
  rows: SlotCharge[],
): Promise<SlotCharge> => {
  const slot = rows.filter((row) => row.month === month).length + 1;
  return charges.intend(partner_id, month, slot, { cents: SLOT_CENTS, at: now() });
};

const refused = ({ failure }: SlotCharge): ApiError =>
  new ApiError('PAYMENT_FAILED', 'the card was refused', { details: { reason: failure } });
