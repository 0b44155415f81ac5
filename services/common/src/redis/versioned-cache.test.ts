import { createVersionedCache } from './versioned-cache';
import { CACHE_LIFE_ALONE_MS } from './versions';

const HOUR_MS = 3_600_000;

afterEach(() => jest.useRealTimers());

test.each([
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
])('a clock that is set %s by an hour makes no answer younger or older', async (_name, jump_ms) => {
  jest.useFakeTimers();
  const cache = createVersionedCache<{ asked: number }>(10);
  let asked = 0;
  const get = () => cache.get('key', undefined, async () => ({ asked: (asked += 1) }));
  await get();
  jest.setSystemTime(Date.now() + jump_ms);
  expect(await get()).toEqual({ asked: 1 });
  jest.advanceTimersByTime(CACHE_LIFE_ALONE_MS);
  expect(await get()).toEqual({ asked: 2 });
});
