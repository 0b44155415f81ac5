import { createBatchWriter } from './batch-writer';

/** A store that records each batch, and can be blocked. */
function aStore() {
  const batches: number[][] = [];
  let gate = Promise.resolve();
  return {
    batches,
    hold: (until: Promise<void>) => void (gate = until),
    write: async (items: number[]) => {
      batches.push(items);
      await gate;
    },
  };
}

test('batches items that arrive during a write', async () => {
  const store = aStore();
  let release = (): void => undefined;
  store.hold(new Promise<void>((resolve) => (release = resolve)));
  const writer = createBatchWriter(store.write);
  const first = writer.add(1);
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  const others = [writer.add(2), writer.add(3)];
  release();
  await Promise.all([first, ...others]);
  expect(store.batches).toEqual([[1], [2, 3]]);
});

test('keeps batches apart and starts the first one after a pause at once', async () => {
  jest.useFakeTimers();
  const apart_ms = 40;
  const store = aStore();
  const writer = createBatchWriter(store.write, { apart_ms });
  const first = writer.add(1);
  await jest.advanceTimersByTimeAsync(0);
  await first;
  const others = [writer.add(2), writer.add(3)];
  await jest.advanceTimersByTimeAsync(apart_ms - 1);
  expect(store.batches).toEqual([[1]]);
  await jest.advanceTimersByTimeAsync(1);
  await Promise.all(others);
  expect(store.batches).toEqual([[1], [2, 3]]);
  jest.useRealTimers();
});

test('writes full batches without the delay between batches', async () => {
  const store = aStore();
  const writer = createBatchWriter(store.write, { apart_ms: 3_600_000 });
  await Promise.all(Array.from({ length: 1_500 }, (_unused, item) => writer.add(item)));
  expect(store.batches.map((batch) => batch.length)).toEqual([500, 500, 500]);
});

test('drain writes everything without the delay between batches', async () => {
  const store = aStore();
  const writer = createBatchWriter(store.write, { apart_ms: 3_600_000 });
  await writer.add(1);
  const second = writer.add(2);
  await writer.drain();
  await second;
  expect(store.batches).toEqual([[1], [2]]);
});

test('rejects a failed batch for each caller, or retries it if configured', async () => {
  const failing = createBatchWriter<number>(() => Promise.reject(new Error('away')));
  const results = await Promise.allSettled([failing.add(1), failing.add(2)]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  let tries = 0;
  const patient = createBatchWriter<number>(
    () => ((tries += 1) < 3 ? Promise.reject(new Error('away')) : Promise.resolve()),
    { retry_ms: 1 },
  );
  await patient.add(1);
  expect(tries).toBe(3);
});
