// The operator's rate card: one document, replaced whole; and the cards that closed months were
// priced with.
import { LRUCache } from '@bmg/common/cache';
import { storeOnce } from '@bmg/common/mongo';
import type { Collection, Db } from 'mongodb';
import { createPriceFinder, type PriceFinder, type RateCard } from '../pricing';

export interface StoredRateCard extends RateCard {
  loaded_at: Date;
}

type RateCardRecord = StoredRateCard & { _id: string };

const CURRENT = 'current';
const CACHED_MS = 2_000;
const MONTHS_CACHED_MAX = 4;
/** Marks a month that was closed without a rate card. */
const NO_CARD: RateCard = { currency: '', rates: [] };

const RATE_CARDS = 'rate_cards';

export function createRateCards(db: Db) {
  const cards: Collection<RateCardRecord> = db.collection(RATE_CARDS);
  /** Cards of months never change. A month without a card is not cached. */
  const ofMonths = new LRUCache<string, { prices: PriceFinder | undefined }>({
    max: MONTHS_CACHED_MAX,
    fetchMethod: async (month) => {
      const card = await cards.findOne({ _id: month });
      return card
        ? { prices: card.rates.length > 0 ? createPriceFinder(card) : undefined }
        : undefined;
    },
  });
  let cached: { prices: PriceFinder | undefined; loaded_at: number; at: number } | undefined;

  return {
    async replace(card: RateCard, at: Date): Promise<void> {
      await cards.replaceOne({ _id: CURRENT }, { ...card, loaded_at: at }, { upsert: true });
      cached = undefined;
    },
    read: (): Promise<StoredRateCard | null> =>
      cards.findOne({ _id: CURRENT }, { projection: { _id: 0 } }),
    /** The prices of the current card; undefined without one. Up to a few seconds old. */
    async prices(): Promise<PriceFinder | undefined> {
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
    /** Keeps the current card for a month, unless the month has one. */
    async keepFor(month: string): Promise<void> {
      const { currency, rates, loaded_at } = (await cards.findOne({ _id: CURRENT })) ?? {
        ...NO_CARD,
        loaded_at: new Date(0),
      };
      await storeOnce(() => cards.insertOne({ _id: month, currency, rates, loaded_at }));
    },
    /** The prices that were kept for a month; undefined if there was no card. */
    pricesOf: async (month: string): Promise<PriceFinder | undefined> =>
      (await ofMonths.fetch(month))?.prices,
  };
}

export type RateCards = ReturnType<typeof createRateCards>;
