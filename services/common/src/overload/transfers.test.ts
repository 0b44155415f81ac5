import { createTransferPool, createTransfers, EVICTION_GRACE_MS, watchMinimumRate } from '.';

const log = { warn: () => undefined } as never;
const FAST = 64 * 1024;
const SLOW = 8 * 1024;

let now_ms = 0;
beforeEach(() => {
  now_ms = 1_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now_ms);
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** Lets seconds pass in which every transfer moves its bytes per second. */
function run(seconds: number, ...running: [{ moved(bytes: number): void }, number][]): void {
  for (let second = 0; second < seconds; second += 1) {
    now_ms += 1_000;
    for (const [transfer, bytes_per_s] of running) transfer.moved(bytes_per_s);
  }
}

describe('transfers', () => {
  test('the slowest one is evicted first, and none that is fast enough', () => {
    const transfers = createTransfers();
    const evicted: string[] = [];
    const begin = (name: string) => transfers.begin('a', () => void evicted.push(name));
    run(20, [begin('slow'), SLOW], [begin('fast'), FAST], [begin('slower'), SLOW / 2]);
    expect([1, 2, 3].map(() => transfers.evictSlowest())).toEqual([true, true, false]);
    expect(evicted).toEqual(['slower', 'slow']);
  });

  test('only those of the holder are evicted for it', () => {
    const transfers = createTransfers();
    transfers.begin('a', () => undefined);
    run(20);
    expect(transfers.evictSlowest('b')).toBe(false);
    expect(transfers.evictSlowest('a')).toBe(true);
  });

  test('one that has just begun, or has ended, is not evicted', () => {
    const transfers = createTransfers();
    const ended = transfers.begin('a', () => undefined);
    run(EVICTION_GRACE_MS / 1_000);
    ended.end();
    transfers.begin('a', () => undefined);
    run(EVICTION_GRACE_MS / 1_000 - 1);
    expect(transfers.evictSlowest()).toBe(false);
    run(1);
    expect(transfers.evictSlowest()).toBe(true);
  });

  test('one that stalls after a fast start is evicted', () => {
    const transfers = createTransfers();
    const stalling = transfers.begin('a', () => undefined);
    run(30, [stalling, 100 * FAST]);
    expect(transfers.evictSlowest()).toBe(false);
    for (let evicted = false; !evicted; evicted = transfers.evictSlowest()) {
      run(1);
      expect(now_ms).toBeLessThan(31_000 + 3 * EVICTION_GRACE_MS);
    }
  });
});

describe('a pool of transfers', () => {
  const options = { server: 'test', reason: 'transfers', holder: 'partner', max: 4 } as const;

  test('a full share gives way only to a faster use of it by the same partner', () => {
    const pool = createTransferPool(options, log);
    const evicted: string[] = [];
    const enter = (holder: string, name: string) =>
      pool.enter(holder, () => void evicted.push(name));
    const first = enter('a', 'first');
    enter('b', 'of another partner');
    enter('a', 'stalled');
    expect(enter('a', 'too early')).toBeUndefined();
    run(20, [first!, FAST]);
    expect(enter('a', 'new')).toBeDefined();
    expect(evicted).toEqual(['stalled']);
    expect(enter('a', 'newer')).toBeUndefined();
  });

  test('a full pool gives way to another partner, and its places are given back once', () => {
    const pool = createTransferPool(options, log);
    const held = ['a', 'a', 'b', 'b'].map((holder) => pool.enter(holder, () => undefined));
    run(20);
    expect(pool.enter('c', () => undefined)).toBeDefined();
    for (const transfer of held) transfer?.end();
    const again = ['a', 'a', 'b', 'b'].map((holder) => pool.enter(holder, () => undefined));
    expect(again.map((transfer) => transfer !== undefined)).toEqual([true, true, true, false]);
  });
});

describe('the minimum rate of a transfer', () => {
  test('reports once an interval has moved less than the minimum, and only once', () => {
    jest.useFakeTimers();
    let bytes = 0;
    const onSlow = jest.fn();
    watchMinimumRate(5_000, () => bytes, onSlow);
    bytes = 5 * 1_024;
    jest.advanceTimersByTime(5_000);
    expect(onSlow).not.toHaveBeenCalled();
    jest.advanceTimersByTime(60_000);
    expect(onSlow).toHaveBeenCalledTimes(1);
  });
});
