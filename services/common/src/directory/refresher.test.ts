import { createRefresher, IN_USE_MS, type Refreshable } from './refresher';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const entry = (): Refreshable => ({ fetched_at: performance.now(), used_at: performance.now() });

/** A refresher whose entries are fetched at once, and the times of its calls. */
const stage = () => {
  const calls: number[] = [];
  const refresher = createRefresher(async (entries: Refreshable[]) => {
    calls.push(performance.now());
    for (const each of entries) each.fetched_at = performance.now();
  });
  return { calls, refresher };
};

test('an entry is refreshed until it was not used for ten seconds; then no timer is left', async () => {
  const { calls, refresher } = stage();
  const added_at = performance.now();
  refresher.add(entry());
  await jest.advanceTimersByTimeAsync(IN_USE_MS + 1_000);
  expect(calls.map((at) => at - added_at)).toEqual([1_500, 3_000, 4_500, 6_000, 7_500, 9_000]);
  expect(jest.getTimerCount()).toBe(0);
});

test('an entry that was removed is not refreshed, and its timer ends', async () => {
  const { calls, refresher } = stage();
  const removed = entry();
  refresher.add(removed);
  refresher.remove(removed);
  await jest.advanceTimersByTimeAsync(IN_USE_MS);
  expect(calls).toEqual([]);
  expect(jest.getTimerCount()).toBe(0);
});

test('a refresh that fails is tried again', async () => {
  let tried = 0;
  const refresher = createRefresher<Refreshable>(async () => {
    tried += 1;
    throw new Error('away');
  });
  refresher.add(entry());
  await jest.advanceTimersByTimeAsync(2_000);
  expect(tried).toBeGreaterThan(1);
});
