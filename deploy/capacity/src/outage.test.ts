// The outage model in cases that can be calculated by hand.
import { RULES, simulate, type Scenario } from './outage';

const scenario: Scenario = {
  events_per_s: 1_000,
  largest_share: 0.1,
  replicas: 2,
  away_s: 600,
  fails: 'refuses',
  receiver_s: 0.05,
  receiver_per_s: 1_000,
  delivery_cpu_s: 0.00025,
};

test('keeps every event that arrives during the outage and gives up none', () => {
  const { backlog_max, given_up } = simulate(scenario);
  expect(backlog_max).toBeGreaterThanOrEqual(60_000);
  expect(given_up).toBe(0);
});

test('stores the events that exceed the limit in memory', () => {
  const { backlog_max, beyond_memory_max } = simulate(scenario);
  expect(backlog_max - beyond_memory_max).toBeLessThanOrEqual(2 * RULES.in_memory_max + 100);
});

test('a probe with a new event detects the return of a receiver that refused', () => {
  // The schedule has no retry due for 230 s after the return at 600 s: 0, 5.5, 38.5, 170.5, 830.5
  // s.
  const { silence_s } = simulate({ ...scenario, largest_share: 0.5 });
  expect(silence_s).toBeLessThanOrEqual(RULES.probe_every_s);
});

test('a receiver whose backlog fits in memory gets its next new event at once', () => {
  const { silence_s } = simulate({ ...scenario, largest_share: 0.01 });
  expect(silence_s).toBe(0);
});

test('a receiver that hung has had few attempts and gets events at once', () => {
  expect(simulate({ ...scenario, fails: 'hangs' }).silence_s).toBeLessThan(5);
});

test('drains a backlog at the receiver’s rate minus the rate of new events', () => {
  const { drained_s, silence_s, drain_per_s } = simulate({
    ...scenario,
    fails: 'hangs',
    receiver_per_s: 400,
  });
  expect(drain_per_s).toBeLessThanOrEqual(401);
  // At least 60,000 events wait, and 100 of the 400 per second are new.
  expect(drained_s - silence_s).toBeGreaterThan(60_000 / 400);
  expect(drained_s - silence_s).toBeLessThan(1.3 * (60_000 / 300));
});

test('other partners wait longer during the catch-up, at most for one share of attempts', () => {
  const { others_wait_ms } = simulate({ ...scenario, fails: 'hangs', receiver_per_s: 100_000 });
  expect(others_wait_ms.drain).toBeGreaterThan(others_wait_ms.calm);
  expect(others_wait_ms.drain).toBeLessThan((RULES.share + 10) * scenario.delivery_cpu_s * 1_000);
});

test('the model reports a receiver that is too slow for its events', () => {
  expect(() => simulate({ ...scenario, receiver_per_s: 50 })).toThrow('never drained');
});
