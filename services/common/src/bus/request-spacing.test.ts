import { createRequestSpacing } from './request-spacing';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** The delay, in milliseconds, after a request with this many messages that took no time itself. */
async function wait(
  spacing: ReturnType<typeof createRequestSpacing>,
  messages: number,
): Promise<number> {
  const started = performance.now();
  let waited = 0;
  const done = spacing.after(messages, started).then(() => (waited = performance.now() - started));
  await jest.advanceTimersByTimeAsync(100);
  await done;
  return waited;
}

test('does not delay a single message after a period of load', async () => {
  const spacing = createRequestSpacing();
  expect(await wait(spacing, 1)).toBe(0);
  expect(await wait(spacing, 10_000)).toBe(6);
  await jest.advanceTimersByTimeAsync(2_000);
  expect(await wait(spacing, 1)).toBe(0);
});

test('spaces requests under load, even small ones', async () => {
  const spacing = createRequestSpacing();
  for (let request = 0; request < 20; request += 1) await spacing.after(3, -Infinity);
  expect(await wait(spacing, 3)).toBe(6);
});

test('does not delay a request that took longer than the spacing', async () => {
  const spacing = createRequestSpacing();
  for (let request = 0; request < 20; request += 1) await spacing.after(3, -Infinity);
  const before = performance.now();
  await spacing.after(3, before - 6);
  expect(performance.now()).toBe(before);
});
