import { totalOf } from './total';

const cost = (amount: string | null, charged: boolean | null = true) => ({
  cost: { charged, currency: 'USD', amount, reason: null },
});

test('adds amounts without an error of binary fractions, and counts what has none', () => {
  const messages = [cost('0.1'), cost('0.2'), cost('0', false), cost(null, null), { cost: null }];
  expect(totalOf(messages)).toBe('0.30 USD for 2 messages, 1 not charged, 2 without a price');
});

test('says so before anything is charged', () => {
  expect(totalOf([cost('0', false)])).toBe('nothing yet, 1 not charged');
});
