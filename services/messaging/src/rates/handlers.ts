// The RPCs of the operator's rate card.
import { ApiError } from '@bmg/common/errors';
import type { Handlers } from '@bmg/common/rpc';
import type { RateCardSummary, RatesDefinition } from '@bmg/proto/messaging';
import { readRateCard } from './rate-card';
import type { RateCards, StoredRateCard } from '../store/rate-cards';

export interface RatesDependencies {
  rateCards: Pick<RateCards, 'replace' | 'read'>;
  now: () => Date;
}

export function createRatesHandlers({
  rateCards,
  now,
}: RatesDependencies): Handlers<RatesDefinition> {
  return {
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
      return stored ? summaryOf(stored) : { rates: 0, markets: 0, categories: [], valid_from: [] };
    },
  };
}

const summaryOf = ({ currency, rates, loaded_at }: StoredRateCard): RateCardSummary => ({
  currency,
  loaded_at,
  rates: rates.length,
  markets: new Set(rates.map(({ market }) => market)).size,
  categories: sortedUnique(rates.map(({ category }) => category)),
  valid_from: sortedUnique(rates.map(({ valid_from }) => valid_from)),
});

const sortedUnique = (texts: string[]): string[] => [...new Set(texts)].sort();
