import { ApiError } from '../errors';
import { VersionedCache } from './versioned-cache';
import { CACHE_LIFE_ALONE_MS, CACHE_LIFE_MS } from './versions';

const HOUR_MS = 3_600_000;

afterEach(() => jest.useRealTimers());

test.each([
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
])('a clock that is set %s by an hour makes no answer younger or older', async (_name, jump_ms) => {
  jest.useFakeTimers();
  const cache = new VersionedCache<{ asked: number }>(10);
  let asked = 0;
  const get = () => cache.get('key', undefined, async () => ({ asked: (asked += 1) }));
  await get();
  jest.setSystemTime(Date.now() + jump_ms);
  expect(await get()).toEqual({ asked: 1 });
  jest.advanceTimersByTime(CACHE_LIFE_ALONE_MS);
  expect(await get()).toEqual({ asked: 2 });
});

describe('an answer that takes long', () => {
  const slow = () => {
    jest.useFakeTimers();
    const cache = new VersionedCache<{ is: string }>(10);
    let arrive: (value: { is: string }) => void = () => undefined;
    const fetch = () => new Promise<{ is: string }>((resolve) => (arrive = resolve));
    return { cache, fetch, arrive: (is: string) => arrive({ is }) };
  };

  // A change that could not be announced waits until the answers requested before it have expired.
  describe.each([
    ['with Redis', 'v1', CACHE_LIFE_MS],
    ['without Redis', undefined, CACHE_LIFE_ALONE_MS],
  ])('%s', (_name, version, life_ms) => {
    test('is as old as its request', async () => {
      const { cache, fetch, arrive } = slow();
      const first = cache.get('key', version, fetch);
      jest.advanceTimersByTime(life_ms - 100);
      arrive('old');
      expect(await first).toEqual({ is: 'old' });
      jest.advanceTimersByTime(100);
      expect(await cache.get('key', version, async () => ({ is: 'new' }))).toEqual({ is: 'new' });
    });

    test('does not answer callers that come later than an answer lives', async () => {
      const { cache, fetch, arrive } = slow();
      const first = cache.get('key', version, fetch);
      jest.advanceTimersByTime(life_ms);
      expect(await cache.get('key', version, async () => ({ is: 'new' }))).toEqual({ is: 'new' });
      arrive('old');
      expect(await first).toEqual({ is: 'old' });
      expect(await cache.get('key', version, async () => ({ is: 'newer' }))).toEqual({ is: 'new' });
    });
  });
});

describe('while the directory is unavailable', () => {
  const away = (_asked?: undefined) => Promise.reject(new ApiError('SERVICE_UNAVAILABLE', 'away'));
  const answer = { is: 'an answer' };
  const aged = async (age_ms = CACHE_LIFE_MS) => {
    jest.useFakeTimers();
    const cache = new VersionedCache<typeof answer>(10);
    await cache.get('key', 'v1', async () => answer);
    jest.advanceTimersByTime(age_ms);
    return cache;
  };

  test('keeps an entry of the current version valid', async () => {
    const cache = await aged();
    expect(await cache.get('key', 'v1', away)).toBe(answer);
  });

  test('answers from the cache and probes the directory periodically', async () => {
    const cache = await aged();
    await cache.get('key', 'v1', away);
    let asked = 0;
    const asking = () => away(void (asked += 1));
    for (let request = 0; request < 5; request += 1) {
      expect(await cache.get('key', 'v1', asking)).toBe(answer);
    }
    expect(asked).toBe(0);
    jest.advanceTimersByTime(2_000);
    await Promise.all([cache.get('key', 'v1', asking), cache.get('key', 'v1', asking)]);
    expect(asked).toBe(1);
    jest.advanceTimersByTime(2_000);
    const newer = { is: 'newer' };
    expect(await cache.get('key', 'v1', async () => newer)).toBe(newer);
  });

  test.each([
    ['of an older version', 'v2', CACHE_LIFE_MS],
    ['of an unknown version because Redis is unavailable too', undefined, CACHE_LIFE_MS],
    ['older than a minute', 'v1', 60_000],
  ])('refuses to answer from an entry %s', async (_name, version, age_ms) => {
    const cache = await aged(age_ms);
    await expect(cache.get('key', version, away)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
  });

  test('answers from an entry that was fetched again while Redis was late', async () => {
    const cache = await aged();
    const newer = { is: 'newer' };
    await cache.get('key', undefined, async () => newer);
    jest.advanceTimersByTime(CACHE_LIFE_MS);
    expect(await cache.get('key', 'v1', away)).toBe(newer);
    jest.advanceTimersByTime(CACHE_LIFE_MS);
    await expect(cache.get('key', 'v2', away)).rejects.toThrow('away');
  });

  test('passes a refusal by the directory on', async () => {
    const cache = await aged();
    const refused = () => Promise.reject(new ApiError('WABA_NOT_REGISTERED', 'unknown'));
    await expect(cache.get('key', 'v1', refused)).rejects.toMatchObject({
      code: 'WABA_NOT_REGISTERED',
    });
  });
});

describe('an entry in use', () => {
  /** A directory of numbers that counts the requests for each. */
  const stage = () => {
    jest.useFakeTimers();
    const single: string[] = [];
    const together: string[][] = [];
    const gone = new Set<string>();
    let is_away = false;
    const cache = new VersionedCache<{ of: string; asked: number }, string>(10, async (keys) => {
      if (is_away) throw new ApiError('SERVICE_UNAVAILABLE', 'away');
      together.push(keys);
      return keys.map((of) =>
        gone.has(of) ? new ApiError('NOT_FOUND', 'gone') : { of, asked: together.length },
      );
    });
    const get = (key: string, version = 'v1') =>
      cache.get(key, version, async () => ({ of: key, asked: -single.push(key) }), key);
    return { single, together, gone, get, goAway: () => (is_away = true) };
  };
  /** Twice within ten seconds: each entry expired once. */
  const useTwice = async (get: (key: string) => Promise<unknown>, keys: string[]) => {
    for (const key of keys) await get(key);
    jest.advanceTimersByTime(CACHE_LIFE_MS);
    for (const key of keys) await get(key);
  };

  test('is refreshed in a batch before it expires', async () => {
    const { single, together, get } = stage();
    await useTwice(get, ['a', 'b', 'c']);
    await jest.advanceTimersByTimeAsync(CACHE_LIFE_MS);
    expect(together[0]).toEqual(['a', 'b', 'c']);
    expect(await get('b')).toEqual({ of: 'b', asked: together.length });
    expect(single).toHaveLength(6);
  });

  test('is left to expire when it was not used for ten seconds', async () => {
    const { single, together, get } = stage();
    await useTwice(get, ['a', 'b']);
    for (let second = 0; second < 15; second += 1) {
      await jest.advanceTimersByTimeAsync(1_000);
      await get('a');
    }
    expect(together.at(0)).toEqual(['a', 'b']);
    expect(together.at(-1)).toEqual(['a']);
    await get('b');
    expect(single).toEqual(['a', 'b', 'a', 'b', 'b']);
  });

  test('that was used once is not refreshed', async () => {
    const { together, get } = stage();
    await get('a');
    await jest.advanceTimersByTimeAsync(CACHE_LIFE_MS);
    expect(together).toEqual([]);
  });

  test('is not the answer of a later version', async () => {
    const { single, get } = stage();
    await useTwice(get, ['a']);
    await jest.advanceTimersByTimeAsync(CACHE_LIFE_MS);
    await get('a', 'v2');
    expect(single).toHaveLength(3);
  });

  test.each([
    ['was deleted', ({ gone }: ReturnType<typeof stage>) => gone.add('a')],
    ['cannot be refreshed with others', ({ goAway }: ReturnType<typeof stage>) => goAway()],
  ])('that %s expires and is fetched', async (_name, happen) => {
    const staged = stage();
    await useTwice(staged.get, ['a']);
    happen(staged);
    await jest.advanceTimersByTimeAsync(CACHE_LIFE_MS);
    await staged.get('a');
    expect(staged.single).toHaveLength(3);
  });
});
