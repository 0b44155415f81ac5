// The RPCs of the operator's rate card.
import { ApiError, invalidField } from '@bmg/common/errors';
import { implement } from '@bmg/common/rpc';
import { isDay } from '@bmg/common/time';
import { type RateCardSummary, RatesDefinition } from '@bmg/proto/messaging';
import { categoryPrices, listPrices } from './list-prices';
import { readRateCard } from '../pricing';
import type { StoredRateCard } from './store';
import type { Feature } from '@bmg/common/service';
import type { Dependencies } from '../dependencies';

/** Bounds the answer: a change has a price in every market. */
const CHANGES_MAX = 100;

export const rates = ({ rateCards, now }: Dependencies): Feature => ({
  rpcs: [
    implement(RatesDefinition, {
      async loadRates({ csv }) {
        const card = readRateCard(csv);
        if (Array.isArray(card)) {
          throw new ApiError('INVALID_FIELD', 'the rate card was refused: nothing was changed', {
            details: { field: 'csv', lines: card },
          });
        }
        const loaded_at = now();
        await rateCards.replace(card, loaded_at);
        return summaryOf({ ...card, loaded_at });
      },
      async getRates() {
        const stored = await rateCards.read();
        return stored
          ? summaryOf(stored)
          : { rates: 0, markets: 0, categories: [], valid_from: [] };
      },
      listPrices: async (request) => listPrices(request, await rateCards.prices(), now()),
      async compareCategories({ changes }) {
        if (changes.length > CHANGES_MAX) {
          throw invalidField('changes', `must have at most ${CHANGES_MAX} items`);
        }
        const wrong = changes.findIndex(({ day }) => !isDay(day));
        if (wrong >= 0) throw invalidField(`changes[${wrong}].day`, 'is not a day of the calendar');
        const prices = await rateCards.prices();
        return { prices: changes.map((change) => categoryPrices(change, prices)) };
      },
    }),
  ],
});

const summaryOf = ({ currency, rates, loaded_at }: StoredRateCard): RateCardSummary => ({
  currency,
  loaded_at,
  rates: rates.length,
  markets: new Set(rates.map(({ market }) => market)).size,
  categories: sortedUnique(rates.map(({ category }) => category)),
  valid_from: sortedUnique(rates.map(({ valid_from }) => valid_from)),
});

const sortedUnique = (texts: string[]): string[] => [...new Set(texts)].sort();
