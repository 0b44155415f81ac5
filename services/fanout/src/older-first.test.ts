import { createOlderFirst } from './older-first';

const LOOK_MS = 10;

/** Older webhooks in Kafka, a clock, and how often they were counted. */
function rig(...counts: number[]) {
  const state = { now_ms: 0, looks: 0, published: 0 };
  const older = createOlderFirst(
    async () => {
      state.looks += 1;
      state.now_ms += LOOK_MS;
      return { waiting: counts.shift() ?? 0, published: state.published };
    },
    () => state.now_ms,
  );
  /** A webhook in each step; returns the looks. */
  const looksIn = async (seconds: number, step_ms = 100): Promise<number> => {
    const before = state.looks;
    for (const until = state.now_ms + seconds * 1_000; state.now_ms < until;) {
      state.now_ms += step_ms;
      await older.handled();
    }
    return state.looks - before;
  };
  return { state, older, counts, looksIn };
}

test('waits until no older webhook is left', async () => {
  const { state, older } = rig(7, 3);
  await older.handled();
  expect(state.looks).toBe(3);
});

test('callers at the same time share one look', async () => {
  const { state, older } = rig();
  await Promise.all([older.handled(), older.handled(), older.handled()]);
  expect(state.looks).toBe(1);
});

test('a webhook waits for no look while the last one is trusted, and the look begins', async () => {
  let answer: (() => void) | undefined;
  const state = { now_ms: 0, looks: 0 };
  const older = createOlderFirst(
    () => {
      state.looks += 1;
      const found = { waiting: 0, published: 0 };
      return state.looks === 1
        ? Promise.resolve(found)
        : new Promise((resolve) => (answer = () => resolve(found)));
    },
    () => state.now_ms,
  );
  await older.handled();
  state.now_ms = 150;
  await older.handled();
  expect(state.looks).toBe(2);
  state.now_ms = 250;
  const late = older.handled();
  answer?.();
  await late;
  expect(state.looks).toBe(2);
});

test('looks often for the ten minutes of an upgrade, and again once there are older webhooks', async () => {
  const { state, looksIn } = rig();
  expect(await looksIn(500)).toBeGreaterThan(2_000);
  await looksIn(200);
  expect(await looksIn(600)).toBeLessThan(20);
  state.published = 5;
  await looksIn(60);
  expect(await looksIn(60)).toBeGreaterThan(200);
});

test('a webhook after a pause waits for a look', async () => {
  const { state, older, counts } = rig();
  await older.handled();
  counts.push(3);
  state.now_ms += 250;
  await older.handled();
  expect(state.looks).toBe(3);
});

test('gives up after five seconds, and Kafka gets the batch back', async () => {
  const older = createOlderFirst(async () => ({ waiting: 1, published: 1 }), rising());
  await expect(older.handled()).rejects.toThrow('webhooks of an older release');
});

test('rejects while Kafka does not answer', async () => {
  const older = createOlderFirst(() => Promise.reject(new Error('no broker')));
  await expect(older.handled()).rejects.toThrow('no broker');
});

/** A clock that goes on by 2 s at each look. */
function rising(): () => number {
  let now_ms = 0;
  return () => (now_ms += 2_000);
}
