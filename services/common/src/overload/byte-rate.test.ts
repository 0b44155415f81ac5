import { createByteRate, type ByteRate } from './byte-rate';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const RATE = 1_000;

/** Moves pieces of 100 bytes until it is stopped; counts the bytes. */
function moving(rate: ByteRate, holder: string, signal?: AbortSignal) {
  const moved = { bytes: 0 };
  const go = async (): Promise<void> => {
    while (moved.bytes < 100_000 && !signal?.aborted) {
      await rate.turn(holder, 100, signal);
      moved.bytes += 100;
    }
  };
  void go();
  return moved;
}

test('lets a holder move a burst at once, then its rate, in all its transfers together', async () => {
  const rate = createByteRate(RATE);
  const [one, two] = [moving(rate, 'a'), moving(rate, 'a')];
  await jest.advanceTimersByTimeAsync(0);
  expect(one.bytes + two.bytes).toBeLessThanOrEqual(RATE / 2 + 200);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(Math.abs(one.bytes + two.bytes - 5.5 * RATE)).toBeLessThanOrEqual(500);
});

test('limits each holder on its own', async () => {
  const rate = createByteRate(RATE);
  const [one, two] = [moving(rate, 'a'), moving(rate, 'b')];
  await jest.advanceTimersByTimeAsync(5_000);
  expect(one.bytes).toBe(two.bytes);
  expect(one.bytes).toBeGreaterThanOrEqual(5 * RATE);
});

test('waits no longer when the transfer has ended', async () => {
  const rate = createByteRate(RATE);
  await rate.turn('a', 60_000);
  const ended = new AbortController();
  let waits = true;
  void rate.turn('a', 1, ended.signal).then(() => (waits = false));
  await jest.advanceTimersByTimeAsync(1_000);
  expect(waits).toBe(true);
  ended.abort();
  await jest.advanceTimersByTimeAsync(0);
  expect(waits).toBe(false);
});
