import { Pace } from './pace';

test('spaces the attempts of a receiver by its rate', () => {
  const pace = new Pace();
  const times = Array.from({ length: 5 }, () => pace.reserve('p/e', 10, 1, 1_000));
  expect(times).toEqual([1_000, 1_100, 1_200, 1_300, 1_400]);
  expect(pace.reserve('p/other', 10, 1, 1_000)).toBe(1_000);
  // Time that was not used is not saved up.
  expect(pace.reserve('p/e', 10, 1, 9_000)).toBe(9_000);
  expect(pace.reserve('p/e', 10, 1, 9_000)).toBe(9_100);
});

test('a replica with a quarter of the partitions keeps a quarter of the rate', () => {
  const pace = new Pace();
  pace.reserve('p/e', 10, 0.25, 0);
  expect(pace.reserve('p/e', 10, 0.25, 0)).toBe(400);
});

test('a receiver whose next time is far away causes its own backlog', () => {
  const pace = new Pace();
  expect(pace.isLimiting('p/e', 0)).toBe(false);
  for (let count = 0; count < 3; count += 1) pace.reserve('p/e', 1, 1, 0);
  expect(pace.isLimiting('p/e', 0)).toBe(true);
  expect(pace.isLimiting('p/e', 2_500)).toBe(false);
});
