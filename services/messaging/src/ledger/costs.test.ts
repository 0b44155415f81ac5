import { costsOf } from './costs';
import { pricesOf } from '../../test/builders';
import type { MessageRecord } from '../messages/message-record';

const cardOf = (price: string) => pricesOf(`Brazil,utility,,2026-01-01,${price}`);
const record = (sent_at: string, facts: object): MessageRecord =>
  ({
    sent_at: new Date(sent_at),
    pricing: { category: 'utility', billable: true, market: 'Brazil' },
    arrived: true,
    ...facts,
  }) as MessageRecord;

test('prices a message with the card of its month, or gives the reason for no amount', async () => {
  let reads = 0;
  const costs = await costsOf(
    {
      ledgerMonths: { list: async () => [{ _id: '2026-09' } as never] },
      rateCards: {
        prices: async () => {
          reads += 1;
          return cardOf('0.02');
        },
        pricesOf: async () => cardOf('0.01'),
      },
    },
    [
      record('2026-09-10T00:00:00Z', {}),
      record('2026-10-10T00:00:00Z', {}),
      record('2026-10-10T00:00:00Z', { arrived: false }),
      record('2026-10-10T00:00:00Z', { pricing: undefined }),
    ],
  );
  expect(costs.map(({ charged, amount }) => [charged, amount])).toEqual([
    [true, '0.01'],
    [true, '0.02'],
    [false, '0'],
    [undefined, undefined],
  ]);
  expect(costs[3]?.reason).toContain('did not report');
  expect(reads).toBe(1);
});
