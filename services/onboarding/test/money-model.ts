// The model of the property test: the expected places and money, without a processor or a store.
import type { CardBehaviour } from '../../../test/payments-double';
import { slotsFor, SLOT_CENTS, WABAS_PER_SLOT } from '../src/ground/slots';

/** Places in order, waiting accounts, slots paid for this month, and money in cents. */
export function createModel() {
  let card: CardBehaviour | null = null;
  let places: string[] = [];
  let waiting: string[] = [];
  let paid = 0;
  let money = 0;
  const active = (): string[] => places.filter((waba) => !waiting.includes(waba));
  const pay = (): void => void ([paid, money] = [paid + 1, money + SLOT_CENTS]);
  const settle = (): void => {
    waiting.push(...active().slice(paid * WABAS_PER_SLOT));
    const free = paid * WABAS_PER_SLOT - active().length;
    const revived = places.filter((waba) => waiting.includes(waba)).slice(0, free);
    waiting = waiting.filter((waba) => !revived.includes(waba));
  };
  return {
    get: () => ({ active: active(), waiting: places.filter((w) => waiting.includes(w)), money }),
    register(waba: string): string {
      if (active().includes(waba)) return 'active';
      const wanted = places.includes(waba) ? places : [...places, waba];
      while (slotsFor(wanted.length) > paid) {
        if (card === null) return 'CARD_REQUIRED';
        if (card === 'declined') return 'PAYMENT_FAILED';
        if (card === 'needs_authentication') {
          if (!places.includes(waba)) waiting.push(waba);
          places = wanted;
          return 'PAYMENT_ACTION_REQUIRED';
        }
        pay();
      }
      places = wanted;
      waiting = waiting.filter((one) => one !== waba);
      settle();
      return 'active';
    },
    remove(waba: string): void {
      places = places.filter((one) => one !== waba);
      waiting = waiting.filter((one) => one !== waba);
      settle();
    },
    /** Unpaid slots are tried again with the new card. */
    putCard(behaviour: CardBehaviour): void {
      card = behaviour;
      if (waiting.length > 0 && card === 'fine') while (slotsFor(places.length) > paid) pay();
      settle();
    },
    personPays(): void {
      pay();
      settle();
    },
    nextMonth(): void {
      paid = 0;
      if (card === 'fine') while (slotsFor(active().length) > paid) pay();
      settle();
    },
  };
}
