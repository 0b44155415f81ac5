// Enters the statuses of closed months into the current one. An entry holds what the status adds to
// the message's amount so far, so that a message is never counted twice.
import type { RateCards } from '../rates';
import type { LateEntries, LateEntry } from './store/late';
import type { ClosedMonths, LateStatus, MessageRecord } from '../messages';
import { type ChargeFacts, isCharged, mergeFacts } from '../pricing';
import { monthOf } from './months';
import { difference, priceCharge, type PricedCharge } from './price-charge';

interface LateDependencies {
  lateEntries: Pick<LateEntries, 'add' | 'of'>;
  rateCards: Pick<RateCards, 'prices' | 'pricesOf'>;
  now: () => Date;
}

/** The facts about a message before the next late status. */
interface Known {
  facts: ChargeFacts;
  amount: string | null;
  currency: string | null;
  /** The ids of its entries so far. */
  entered: Set<string>;
}

/** A repeated batch adds nothing: an entry is named by its message and status. */
export const addLate =
  ({ lateEntries, rateCards, now }: LateDependencies): ClosedMonths['addLate'] =>
  async (late) => {
    const records = new Map(late.map(({ record }) => [record._id, record]));
    const known = await knownOf(late, await lateEntries.of([...records.values()]), rateCards);
    const prices = await rateCards.prices();
    const added: LateEntry[] = [];
    for (const one of late) {
      const before = known.get(one.record._id) as Known;
      const _id = `${one.record._id}/${one.update.status}`;
      if (before.entered.has(_id)) continue;
      const facts = mergeFacts(before.facts, one.update.charge);
      if (saysTheSame(before.facts, facts)) continue;
      const price = priceCharge(facts, one.record.sent_at, prices);
      added.push(entryOf(one, { _id, facts, price, before, booked_at: now() }));
      const currency = price.currency ?? before.currency;
      known.set(one.record._id, {
        facts,
        amount: price.amount,
        currency,
        entered: new Set([...before.entered, _id]),
      });
    }
    await lateEntries.add(added);
  };

async function knownOf(
  late: LateStatus[],
  entries: LateEntry[],
  rateCards: LateDependencies['rateCards'],
): Promise<Map<string, Known>> {
  const known = new Map<string, Known>();
  for (const { record } of late) {
    if (known.has(record._id)) continue;
    const prices = await rateCards.pricesOf(monthOf(record.sent_at));
    const { amount, currency } = priceCharge(record, record.sent_at, prices);
    const facts = { pricing: record.pricing, arrived: record.arrived };
    known.set(record._id, { facts, amount, currency, entered: new Set() });
  }
  for (const entry of entries) {
    const before = known.get(entry.request_id);
    if (!before) continue;
    before.entered.add(entry._id);
    before.facts = mergeFacts(before.facts, entry);
    before.amount = entry.price.amount;
    before.currency = entry.currency;
  }
  return known;
}

const saysTheSame = (one: ChargeFacts, other: ChargeFacts): boolean =>
  Boolean(one.arrived) === Boolean(other.arrived) &&
  one.pricing?.category === other.pricing?.category &&
  one.pricing?.billable === other.pricing?.billable;

function entryOf(
  { record, update }: LateStatus,
  entry: { _id: string; facts: ChargeFacts; price: PricedCharge; before: Known; booked_at: Date },
): LateEntry {
  const { _id, facts, price, before, booked_at } = entry;
  return {
    _id,
    request_id: record._id,
    ...messageOf(record),
    status: update.status,
    booked_at,
    ...(facts.pricing && { pricing: facts.pricing }),
    ...(facts.arrived && { arrived: true }),
    price,
    currency: price.currency ?? before.currency,
    amount: difference(price.amount, before.amount),
    charged_change: Number(isCharged(facts) === true) - Number(isCharged(before.facts) === true),
  };
}

const messageOf = (record: MessageRecord) => ({
  partner_id: record.partner_id,
  waba_id: record.waba_id,
  phone_number_id: record.phone_number_id,
  message_id: record.message_id,
  kind: record.kind,
  ...(record.template && { template: record.template }),
  recipient: record.recipient,
  sent_at: record.sent_at,
});
