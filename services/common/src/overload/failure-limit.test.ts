import { createFailureLimit } from './refusals';

const LIMITS = { burst: 10, per_s: 1 };

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Makes attempts that fail; returns how many were allowed. */
function fail(limit: ReturnType<typeof createFailureLimit>, holder: string, count: number): number {
  let allowed = 0;
  for (let at = 0; at < count; at += 1) {
    if (!limit.mayTry(holder)) continue;
    allowed += 1;
    limit.failed(holder);
  }
  return allowed;
}

test('a holder fails ten times, and then once a second', () => {
  const limit = createFailureLimit(LIMITS);
  expect(fail(limit, 'a', 100)).toBe(10);
  jest.advanceTimersByTime(3_000);
  expect(fail(limit, 'a', 100)).toBe(3);
  jest.advanceTimersByTime(3_600_000);
  expect(fail(limit, 'a', 100)).toBe(10);
});

test('the failures of one holder limit no other', () => {
  const limit = createFailureLimit(LIMITS);
  fail(limit, 'a', 100);
  expect(limit.mayTry('b')).toBe(true);
});

test('attempts in flight together count for later ones, within a bound', () => {
  const limit = createFailureLimit(LIMITS);
  for (let at = 0; at < 1_000; at += 1) limit.failed('a');
  jest.advanceTimersByTime(10_000);
  expect(limit.mayTry('a')).toBe(false);
  jest.advanceTimersByTime(1_000);
  expect(limit.mayTry('a')).toBe(true);
});
