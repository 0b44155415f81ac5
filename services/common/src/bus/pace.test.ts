import { createPace } from './pace';

/** How long a request waits that took no time itself. */
async function wait(pace: ReturnType<typeof createPace>, messages: number): Promise<number> {
  const started = performance.now();
  await pace.after(messages, started);
  return performance.now() - started;
}

test('does not delay a single message after a period of load', async () => {
  const pace = createPace();
  expect(await wait(pace, 1)).toBeLessThan(3);
  await pace.after(10_000, performance.now());
  const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 2_000);
  await pace.after(1, performance.now() - 1);
  clock.mockRestore();
});

test('spaces requests under load, even small ones', async () => {
  const pace = createPace();
  for (let request = 0; request < 20; request += 1) await pace.after(3, -Infinity);
  expect(await wait(pace, 3)).toBeGreaterThan(4);
});
