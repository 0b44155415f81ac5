import { MaxRate, type SpacedDelivery } from './receiver-limits';

const delivery = (receiver = 'p/e'): SpacedDelivery => ({
  partner_id: 'p',
  receiver,
  next_attempt_at: 0,
  paced_until: undefined,
});
/** The time at which a new delivery may be attempted. */
function timeOf(max_rate: MaxRate, rate: number, now: number, receiver = 'p/e'): number {
  const one = delivery(receiver);
  return max_rate.delays(one, rate, now) ? one.next_attempt_at : now;
}

test('spaces the attempts of a receiver by its rate', () => {
  const max_rate = new MaxRate();
  const times = Array.from({ length: 5 }, () => timeOf(max_rate, 10, 1_000));
  expect(times).toEqual([1_000, 1_100, 1_200, 1_300, 1_400]);
  expect(timeOf(max_rate, 10, 1_000, 'p/other')).toBe(1_000);
  // Time that was not used is not saved up.
  expect(timeOf(max_rate, 10, 9_000)).toBe(9_000);
  expect(timeOf(max_rate, 10, 9_000)).toBe(9_100);
});

test('a delivery keeps the time that is reserved for it, and needs another for its retry', () => {
  const max_rate = new MaxRate();
  timeOf(max_rate, 1, 0);
  const one = delivery();
  expect([max_rate.delays(one, 1, 0), one.next_attempt_at]).toEqual([true, 1_000]);
  expect([max_rate.delays(one, 1, 500), one.next_attempt_at]).toEqual([true, 1_000]);
  expect(timeOf(max_rate, 1, 500)).toBe(2_000);
  expect(max_rate.delays(one, 1, 1_000)).toBe(false);
  expect([max_rate.delays(one, 1, 1_000), one.next_attempt_at]).toEqual([true, 3_000]);
});

test('a receiver whose next attempt is far in the future causes its own backlog', () => {
  const max_rate = new MaxRate();
  expect(max_rate.isLimiting('p/e', 0)).toBe(false);
  for (let count = 0; count < 3; count += 1) timeOf(max_rate, 1, 0);
  expect(max_rate.isLimiting('p/e', 0)).toBe(true);
  expect(max_rate.isLimiting('p/e', 2_500)).toBe(false);
});
