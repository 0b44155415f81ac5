import { slowest, waitedFor, Waits } from './waits';

describe('slowest', () => {
  const shareOf = (durations: number[], isSlow: (ms: number) => boolean): number =>
    durations.filter(isSlow).length / durations.length;
  const spread = (from_ms: number, count: number): number[] =>
    Array.from({ length: count }, (_unused, index) => from_ms + ((index * 7_919) % 1_000) / 10);

  test('reports about its share, after one window', () => {
    const isSlow = slowest(0.01);
    expect(shareOf(spread(10, 300), isSlow)).toBe(0);
    const share = shareOf(spread(10, 3_000), isSlow);
    expect(share).toBeGreaterThan(0.004);
    expect(share).toBeLessThan(0.02);
  });

  test('follows a load that becomes slower or faster within two windows', () => {
    const isSlow = slowest(0.01);
    for (const from_ms of [10, 500, 10]) {
      spread(from_ms, 600).forEach(isSlow);
      expect(shareOf(spread(from_ms, 3_000), isSlow)).toBeLessThan(0.02);
      expect(shareOf(spread(from_ms, 3_000), isSlow)).toBeGreaterThan(0.002);
    }
  });

  test('reports nothing that is fast', () => {
    const isSlow = slowest(0.1);
    const durations = spread(0, 300).map((ms) => ms / 25);
    expect(shareOf([...durations, ...durations], isSlow)).toBe(0);
  });
});

describe('Waits', () => {
  test('adds up waits by name, those of another process too, and counts the rest as own', async () => {
    const waits = new Waits();
    waits.add('redis', 1.23456);
    waits.add('redis', 1);
    expect(waits.merge({ mongodb: 5, messaging: 2 })).toBe(7);
    await expect(waitedFor(waits, 'turn', Promise.reject(new Error('no')))).rejects.toThrow('no');
    const { turn, ...rest } = waits.report('gateway', 20);
    expect(turn).toBeGreaterThanOrEqual(0);
    expect(rest).toMatchObject({ redis: 2.235, mongodb: 5, messaging: 2 });
    expect(rest['gateway']).toBeCloseTo(10.765, 0);
  });

  test('waits beside each other may be longer than the whole: nothing is own then', () => {
    const waits = new Waits();
    waits.add('upstream', 15);
    waits.add('redis', 15);
    expect(waits.report('gateway', 20)).toEqual({ upstream: 15, redis: 15, gateway: 0 });
  });
});
