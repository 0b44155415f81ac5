// Makes sure that a registration has room in a paid billing slot before its account becomes active.
// If there is none, the next slot is charged first (contract 1.6, 1.7).
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import { SLOT_CENTS, slotsFor, WABAS_PER_SLOT } from '../../../ground/slots';
import { activeWabas, withOne, type Place } from '../../../ground/partners';
import type { SlotCharge } from '../store/slot-charges';
import { paidSlots, waitingBilling, wantedCharges, type Places } from '../capacity';
import { cardRequired, charge, customerOf, refresh, type ChargeDependencies } from './charge';
import { withHold } from './hold';
import type { Cover } from '../processor';
import { nextMonth } from './review';

/** Each try buys a slot, or finds that one was paid in the meantime. */
const TRIES_MAX = 1_000;

export async function cover(deps: ChargeDependencies, purchase: Place, call: Call): Promise<Cover> {
  const { accounts, now } = deps;
  const { ready } = await readStanding(deps, purchase);
  if (ready) return ready;
  const account = await accounts.ensure(purchase.partner_id, nextMonth(now()), now());
  return withHold(deps, purchase.partner_id, call, async () =>
    buy(deps, purchase, await customerOf(deps, account)),
  );
}

async function buy(deps: ChargeDependencies, purchase: Place, customer_id: string): Promise<Cover> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const { ready, places, rows, missing } = await readStanding(deps, purchase);
    if (ready) return ready;
    const card = await deps.api.cardOf(customer_id);
    if (!card) throw cardRequired();
    const wanted = wantedCharges(places, rows, purchase.month);
    let [row] = wanted;
    if (row?.status === 'action_required' && row.payment_method === card.id) {
      const known = await refresh(deps, row);
      if (known.status !== row.status) continue;
      // The first invoice waits for a person. The account still needs an invoice of its own, to be
      // paid later.
      row = wanted.find(({ status }) => status === 'intended');
      if (!row && wanted.length >= missing) return waitFor(purchase, places, rows);
    }
    row ??= await intendNext(deps, purchase, rows);
    const after = await charge(deps, row, { customer_id, card, month: purchase.month });
    if (after.status === 'declined') throw refused(after);
  }
  throw new Error('a registration needs more slots than a partner can have');
}

interface Standing {
  /** How the account may start; null if a payment is needed first. */
  ready: Cover | null;
  /** The partner's accounts as if this one waited among them. */
  places: Places;
  rows: SlotCharge[];
  /** Unpaid slots that the accounts need. */
  missing: number;
}

async function readStanding(
  { partners, charges }: ChargeDependencies,
  { partner_id, waba_id, month }: Place,
): Promise<Standing> {
  const partner = await partners.find(partner_id);
  if (!partner) throw new ApiError('INVALID_PARTNER_KEY', 'the partner does not exist');
  const { wabas, waiting_wabas = [] } = partner;
  const places = { wabas: withOne(wabas, waba_id), waiting_wabas: withOne(waiting_wabas, waba_id) };
  // The account may send already: this registers another number of it, or a new token.
  if (activeWabas(partner).includes(waba_id)) {
    return { ready: { billing: 'active', active_max: Infinity }, places, rows: [], missing: 0 };
  }
  const rows = await charges.relevant(partner_id, month);
  const paid = paidSlots(rows, month);
  // Waiting accounts come first: their slots are paid before another account becomes active.
  const missing = slotsFor(places.wabas.length) - paid;
  const active_max = paid * WABAS_PER_SLOT;
  return { ready: missing <= 0 ? { billing: 'active', active_max } : null, places, rows, missing };
}

const waitFor = ({ waba_id, month }: Place, places: Places, rows: SlotCharge[]): Cover => ({
  billing: 'payment_action_required',
  payment_url: waitingBilling(places, rows, month).get(waba_id)?.payment_url ?? null,
  places_max: slotsFor(places.wabas.length) * WABAS_PER_SLOT,
});

const intendNext = (
  { charges, now }: ChargeDependencies,
  { partner_id, month }: Place,
  rows: SlotCharge[],
): Promise<SlotCharge> => {
  const slot = rows.filter((row) => row.month === month).length + 1;
  return charges.intend(partner_id, month, slot, { cents: SLOT_CENTS, at: now() });
};

const refused = ({ failure }: SlotCharge): ApiError =>
  new ApiError(
    'PAYMENT_FAILED',
    'the card was refused: put another card on file, then register again',
    { details: { reason: failure } },
  );
