// An outage of ten minutes, calculated by hand.
import { outageOf, RULES, type Scenario } from './outage';

const scenario: Scenario = {
  events_per_s: 1_000,
  largest_share: 0.1,
  replicas: 2,
  away_s: 600,
  receiver_s: 0.05,
  receiver_per_s: 400,
  delivery_cpu_s: 0.00025,
};

test('drains a backlog at the receiver’s rate minus the rate of new events', () => {
  // 100 events per second for 630 s; later 300 of the 400 per second are old ones.
  expect(outageOf(scenario)).toMatchObject({
    backlog_max: 63_000,
    stored_max: 43_000,
    drain_per_s: 400,
    drained_s: 30 + 63_000 / 300,
  });
  expect(outageOf({ ...scenario, largest_share: 0.01 }).stored_max).toBe(0);
});

test.each([
  ['its share of attempts in flight', { receiver_s: 0.5 }, 256],
  ['the CPU that other partners leave', { delivery_cpu_s: 0.0015 }, 2 / 0.0015 - 900],
])('drains no faster than %s', (_limit, change, drain_per_s) => {
  const found = outageOf({ ...scenario, receiver_per_s: 100_000, ...change });
  expect(found.drain_per_s).toBeCloseTo(drain_per_s);
});

test('other partners wait longer during the catch-up, at most for one share of attempts', () => {
  const { others_wait_ms } = outageOf({ ...scenario, receiver_per_s: 100_000 });
  expect(others_wait_ms.drain).toBeGreaterThan(others_wait_ms.calm);
  expect(others_wait_ms.drain).toBeLessThan((RULES.share + 1) * scenario.delivery_cpu_s * 1_000);
});

test('reports a receiver that is too slow for its events', () => {
  expect(() => outageOf({ ...scenario, receiver_per_s: 50 })).toThrow('never drained');
});
