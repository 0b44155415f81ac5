import { createPace } from './pace';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** How long a request of `messages` waits that took no time itself, in milliseconds. */
async function wait(pace: ReturnType<typeof createPace>, messages: number): Promise<number> {
  const started = performance.now();
  let waited = 0;
  const done = pace.after(messages, started).then(() => (waited = performance.now() - started));
  await jest.advanceTimersByTimeAsync(100);
  await done;
  return waited;
}

test('does not delay a single message after a period of load', async () => {
  const pace = createPace();
  expect(await wait(pace, 1)).toBe(0);
  expect(await wait(pace, 10_000)).toBe(6);
  await jest.advanceTimersByTimeAsync(2_000);
  expect(await wait(pace, 1)).toBe(0);
});

test('spaces requests under load, even small ones', async () => {
  const pace = createPace();
  for (let request = 0; request < 20; request += 1) await pace.after(3, -Infinity);
  expect(await wait(pace, 3)).toBe(6);
});

test('does not delay a request that took longer than the spacing', async () => {
  const pace = createPace();
  for (let request = 0; request < 20; request += 1) await pace.after(3, -Infinity);
  const before = performance.now();
  await pace.after(3, before - 6);
  expect(performance.now()).toBe(before);
});
