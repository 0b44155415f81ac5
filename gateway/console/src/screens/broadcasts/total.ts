// The cost of a broadcast's messages in words. Pure.
import type { Message } from '../../api/types';
import { countOf, nounOf } from '../../period';

/** Decimal places of a rate card, so that sums of its prices are exact. */
const SCALE = 1e8;

/** `1.1000 USD for 200 messages, 3 free, 2 not known`. */
export function totalOf(messages: ReadonlyArray<Pick<Message, 'cost'>>): string {
  const sums = new Map<string, number>();
  let [charged, free, unknown] = [0, 0, 0];
  for (const { cost } of messages) {
    if (cost?.charged === false) free += 1;
    else if (cost?.amount && cost.currency) {
      charged += 1;
      const units = Math.round(Number(cost.amount) * SCALE);
      sums.set(cost.currency, (sums.get(cost.currency) ?? 0) + units);
    } else unknown += 1;
  }
  const amounts = [...sums].map(([currency, units]) => `${inPlaces(units / SCALE)} ${currency}`);
  return [
    charged > 0 ? `${amounts.join(' and ')} for ${nounOf(charged, 'message')}` : 'nothing yet',
    ...(free > 0 ? [`${countOf(free)} not charged`] : []),
    ...(unknown > 0 ? [`${countOf(unknown)} without a price`] : []),
  ].join(', ');
}

const inPlaces = (amount: number): string =>
  new Intl.NumberFormat(undefined, {
    minimumFractionDigits: 2,
    maximumFractionDigits: 8,
  }).format(amount);
