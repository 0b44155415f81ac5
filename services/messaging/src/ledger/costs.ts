// What messages cost: the amounts of their entries in the ledger, for lists of messages and in
// groups.
import type { MessageCost } from '@bmg/proto/messaging';
import type { PriceFinder } from '../pricing';
import type { LedgerMonths } from './store/months';
import type { MessageRecord } from '../messages';
import type { RateCards } from '../rates';
import { monthOf } from './months';
import { priceCharge } from './price-charge';
import { dayStart } from '@bmg/common/time';
import type { LedgerEntries, LedgerScope, Range } from './store/entries';
import type { LateEntries } from './store/late';
import { groupOfLate, priceGroup, type TotalledGroup } from './totals';

export interface CostSources {
  ledgerMonths: Pick<LedgerMonths, 'list'>;
  rateCards: Pick<RateCards, 'prices' | 'pricesOf'>;
}

export type Prices = (at: Date) => Promise<PriceFinder | undefined>;

/**
 * The prices of a time, each card read once: a closed month keeps the card that it was closed with.
 */
export function pricesByMonth(
  rateCards: CostSources['rateCards'],
  closed: { has(month: string): boolean },
): Prices {
  const cards = new Map<string, Promise<PriceFinder | undefined>>();
  return (at) => {
    const month = closed.has(monthOf(at)) ? monthOf(at) : '';
    const card =
      cards.get(month) ?? (month === '' ? rateCards.prices() : rateCards.pricesOf(month));
    cards.set(month, card);
    return card;
  };
}

/** The costs of sent messages, in their order. */
export async function costsOf(
  { ledgerMonths, rateCards }: CostSources,
  records: readonly MessageRecord[],
): Promise<MessageCost[]> {
  if (records.length === 0) return [];
  const closed = new Set((await ledgerMonths.list()).map(({ _id }) => _id));
  const pricesAt = pricesByMonth(rateCards, closed);
  return Promise.all(
    records.map(async (record) => {
      const { charged, currency, amount, amount_reason } = priceCharge(
        record,
        record.sent_at,
        await pricesAt(record.sent_at),
      );
      return {
        charged: charged ?? undefined,
        currency: currency ?? undefined,
        amount: amount ?? undefined,
        reason: amount_reason ?? undefined,
      };
    }),
  );
}

export interface GroupSources {
  ledgerEntries: Pick<LedgerEntries, 'groups'>;
  lateEntries: Pick<LateEntries, 'stream'>;
}

/**
 * The entries of a period in groups, with their prices. `accounts`: those that sent the messages.
 */
export async function pricedGroups(
  { ledgerEntries, lateEntries }: GroupSources,
  scope: LedgerScope,
  range: Range,
  pricesAt: Prices,
): Promise<{ groups: TotalledGroup[]; accounts: string[] }> {
  const found = await ledgerEntries.groups(scope, range);
  const groups = await Promise.all(
    found.map(async (group) => priceGroup(group, await pricesAt(dayStart(group.day)))),
  );
  for await (const late of lateEntries.stream(scope, range)) groups.push(groupOfLate(late));
  return { groups, accounts: found.map(({ waba_id }) => waba_id) };
}
