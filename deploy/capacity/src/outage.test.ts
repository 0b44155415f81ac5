// The model of an outage: what it must answer in cases that can be reckoned by hand.
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

test('all that came in while the receiver was away waits, and nothing is given up', () => {
  const { backlog_max, given_up } = simulate(scenario);
  expect(backlog_max).toBeGreaterThanOrEqual(60_000);
  expect(given_up).toBe(0);
});

test('what is beyond the places in memory is in the store', () => {
  const { backlog_max, beyond_memory_max } = simulate(scenario);
  expect(backlog_max - beyond_memory_max).toBeLessThanOrEqual(2 * RULES.in_memory_max + 100);
});

test('a receiver that refused is found to be back by the next event that is let through', () => {
  // The schedule has nothing due for 230 s after its return at 600 s: 0, 5.5, 38.5, 170.5, 830.5 s.
  const { silence_s } = simulate({ ...scenario, largest_share: 0.5 });
  expect(silence_s).toBeLessThanOrEqual(RULES.probe_every_s);
});

test('one with no more waiting than memory keeps is sent its next new event at once', () => {
  const { silence_s } = simulate({ ...scenario, largest_share: 0.01 });
  expect(silence_s).toBe(0);
});

test('a receiver that hung has had few attempts, and gets events at once', () => {
  expect(simulate({ ...scenario, fails: 'hangs' }).silence_s).toBeLessThan(5);
});

test('a backlog is drained at the speed of the receiver, less what comes in meanwhile', () => {
  const { drained_s, silence_s, drain_per_s } = simulate({
    ...scenario,
    fails: 'hangs',
    receiver_per_s: 400,
  });
  expect(drain_per_s).toBeLessThanOrEqual(401);
  // 60,000 and more waited, and of the 400 a second 100 are new ones.
  expect(drained_s - silence_s).toBeGreaterThan(60_000 / 400);
  expect(drained_s - silence_s).toBeLessThan(1.3 * (60_000 / 300));
});

test('the others wait a little longer while it catches up, never longer than its share takes', () => {
  const { others_wait_ms } = simulate({ ...scenario, fails: 'hangs', receiver_per_s: 100_000 });
  expect(others_wait_ms.drain).toBeGreaterThan(others_wait_ms.calm);
  expect(others_wait_ms.drain).toBeLessThan((RULES.share + 10) * scenario.delivery_cpu_s * 1_000);
});

test('a receiver that is slower than its events come in is never drained, and the model says so', () => {
  expect(() => simulate({ ...scenario, receiver_per_s: 50 })).toThrow('never drained');
});
