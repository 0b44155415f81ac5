import { Pace, type PacedDelivery } from './pace';

const delivery = (receiver = 'p/e'): PacedDelivery => ({
  partner_id: 'p',
  receiver,
  next_attempt_at: 0,
  paced_until: undefined,
});
/** The time at which a new delivery may be attempted. */
function timeOf(pace: Pace, rate: number, now: number, receiver = 'p/e'): number {
  const one = delivery(receiver);
  return pace.delays(one, rate, now) ? one.next_attempt_at : now;
}

test('spaces the attempts of a receiver by its rate', () => {
  const pace = new Pace();
  const times = Array.from({ length: 5 }, () => timeOf(pace, 10, 1_000));
  expect(times).toEqual([1_000, 1_100, 1_200, 1_300, 1_400]);
  expect(timeOf(pace, 10, 1_000, 'p/other')).toBe(1_000);
  // Time that was not used is not saved up.
  expect(timeOf(pace, 10, 9_000)).toBe(9_000);
  expect(timeOf(pace, 10, 9_000)).toBe(9_100);
});

test('a delivery keeps the time that is reserved for it, and needs another for its retry', () => {
  const pace = new Pace();
  timeOf(pace, 1, 0);
  const one = delivery();
  expect([pace.delays(one, 1, 0), one.next_attempt_at]).toEqual([true, 1_000]);
  expect([pace.delays(one, 1, 500), one.next_attempt_at]).toEqual([true, 1_000]);
  expect(timeOf(pace, 1, 500)).toBe(2_000);
  expect(pace.delays(one, 1, 1_000)).toBe(false);
  expect([pace.delays(one, 1, 1_000), one.next_attempt_at]).toEqual([true, 3_000]);
});

test('a receiver whose next time is far away causes its own backlog', () => {
  const pace = new Pace();
  expect(pace.isLimiting('p/e', 0)).toBe(false);
  for (let count = 0; count < 3; count += 1) timeOf(pace, 1, 0);
  expect(pace.isLimiting('p/e', 0)).toBe(true);
  expect(pace.isLimiting('p/e', 2_500)).toBe(false);
});
