// What messages cost, for the lists of messages: the amounts of their entries in the ledger.
import type { MessageCost } from '@bmg/proto/messaging';
import type { PriceFinder } from '../pricing';
import type { LedgerMonths } from './store/months';
import type { MessageRecord } from '../messages';
import type { RateCards } from '../rates';
import { monthOf } from './months';
import { priceCharge } from './price-charge';

export interface CostSources {
  ledgerMonths: Pick<LedgerMonths, 'list'>;
  rateCards: Pick<RateCards, 'prices' | 'pricesOf'>;
}

export type Prices = (at: Date) => Promise<PriceFinder | undefined>;

/** The prices of a time, each card read once: a closed month keeps the card that it was closed with. */
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
