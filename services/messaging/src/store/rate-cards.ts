// The operator's rate card: one document, replaced whole.
import type { Collection, Db } from 'mongodb';
import { createPriceFinder, type PriceFinder, type RateCard } from '../rates/rate-card';

export interface RateCards {
  replace(card: RateCard, at: Date): Promise<void>;
  read(): Promise<StoredRateCard | null>;
  /** The prices of the current card; undefined without one. Up to a few seconds old. */
  prices(): Promise<PriceFinder | undefined>;
}

export interface StoredRateCard extends RateCard {
  loaded_at: Date;
}

type RateCardRecord = StoredRateCard & { _id: string };

const CURRENT = 'current';
const CACHED_MS = 2_000;

export const RATE_CARDS = 'rate_cards';

export function createRateCards(db: Db): RateCards {
  const cards: Collection<RateCardRecord> = db.collection(RATE_CARDS);
  let cached: { prices: PriceFinder | undefined; loaded_at: number; at: number } | undefined;

  return {
    async replace(card, at) {
      await cards.replaceOne({ _id: CURRENT }, { ...card, loaded_at: at }, { upsert: true });
      cached = undefined;
    },
    read: () => cards.findOne({ _id: CURRENT }, { projection: { _id: 0 } }),
    async prices() {
      // Monotonic clock: a step of the wall clock must not keep an old card.
      const at = performance.now();
      if (cached && at - cached.at < CACHED_MS) return cached.prices;
      const loaded = await cards.findOne({ _id: CURRENT }, { projection: { loaded_at: 1 } });
      const loaded_at = loaded?.loaded_at.getTime() ?? 0;
      if (cached?.loaded_at !== loaded_at) {
        const card = loaded && (await cards.findOne({ _id: CURRENT }));
        cached = { prices: card ? createPriceFinder(card) : undefined, loaded_at, at };
      }
      cached.at = at;
      return cached.prices;
    },
  };
}
