import { fakeClock, systemClock } from './clock';

describe('fakeClock', () => {
  test('time stands still until it is advanced', async () => {
    const clock = fakeClock('2026-09-01T00:00:00Z');
    expect(clock.now().toISOString()).toBe('2026-09-01T00:00:00.000Z');
    await clock.advance(1_500);
    expect(clock.nowMs() - Date.parse('2026-09-01T00:00:00Z')).toBe(1_500);
  });

  test('timers fire in the order of their due times, each at its own time', async () => {
    const clock = fakeClock();
    const fired: string[] = [];
    const note = (name: string) => () => fired.push(`${name}@${clock.nowMs()}`);
    clock.setTimeout(note('late'), 30);
    clock.setTimeout(note('first of two'), 10);
    clock.setTimeout(note('second of two'), 10);
    clock.setTimeout(note('never'), 31);
    await clock.advance(30);
    expect(fired).toEqual(['first of two@10', 'second of two@10', 'late@30']);
    expect(clock.pending()).toBe(1);
  });

  test('what a timer sets off asynchronously takes part in the same advance', async () => {
    const clock = fakeClock();
    const seen: number[] = [];
    const loop = async (): Promise<void> => {
      for (let i = 0; i < 5; i++) {
        await clock.sleep(10);
        await Promise.resolve();
        seen.push(clock.nowMs());
      }
    };
    const done = loop();
    await clock.advance(50);
    await done;
    expect(seen).toEqual([10, 20, 30, 40, 50]);
  });

  test('a cancelled timer does not fire', async () => {
    const clock = fakeClock();
    const fn = jest.fn();
    const cancel = clock.setTimeout(fn, 10);
    cancel();
    cancel();
    await clock.advance(100);
    expect(fn).not.toHaveBeenCalled();
  });

  test('an aborted sleep rejects at once and leaves no timer behind', async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const sleep = clock.sleep(1_000, controller.signal);
    controller.abort(new Error('stop'));
    await expect(sleep).rejects.toThrow('stop');
    expect(clock.pending()).toBe(0);
    await expect(clock.sleep(1, controller.signal)).rejects.toThrow('stop');
  });

  test('a timer that reschedules itself for at once is found out', async () => {
    const clock = fakeClock();
    jest.spyOn(global, 'setImmediate').mockImplementation((fn) => {
      queueMicrotask(fn as () => void);
      return {} as NodeJS.Immediate;
    });
    const again = (): void => void clock.setTimeout(again, 0);
    again();
    await expect(clock.advance(1)).rejects.toThrow('without end');
    jest.restoreAllMocks();
  });
});

describe.each([
  ['systemClock', systemClock],
  ['fakeClock', fakeClock()],
])('%s', (_name, clock) => {
  test('a wait that the platform cannot keep is refused rather than fired at once', () => {
    expect(() => clock.setTimeout(() => undefined, 2 ** 31)).toThrow(RangeError);
    expect(() => clock.setTimeout(() => undefined, NaN)).toThrow(RangeError);
  });
});

describe('systemClock', () => {
  test('it sleeps, fires and cancels', async () => {
    const fn = jest.fn();
    const cancel = systemClock.setTimeout(fn, 5);
    const before = systemClock.nowMs();
    cancel();
    await systemClock.sleep(20);
    expect(systemClock.nowMs() - before).toBeGreaterThanOrEqual(18);
    expect(systemClock.now().getTime()).toBeGreaterThanOrEqual(before);
    expect(fn).not.toHaveBeenCalled();
  });

  test('an aborted sleep rejects with the reason', async () => {
    await expect(systemClock.sleep(60_000, AbortSignal.timeout(5))).rejects.toThrow('timeout');
  });
});
