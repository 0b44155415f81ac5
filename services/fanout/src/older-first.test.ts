import { createOlderFirst } from './older-first';

/** Older webhooks in Kafka, a clock, and how often they were counted. */
function rig(...counts: number[]) {
  const state = { now_ms: 0, looks: 0 };
  const older = createOlderFirst(
    async () => {
      state.looks += 1;
      state.now_ms += 10;
      return counts.shift() ?? 0;
    },
    () => state.now_ms,
  );
  return { state, older, counts };
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

test('looks often for the ten minutes of an upgrade, and again once there are older webhooks', async () => {
  const { state, older, counts } = rig();
  const looksIn = async (seconds: number): Promise<number> => {
    const before = state.looks;
    for (let at = 0; at < seconds; at += 1) {
      state.now_ms += 1_000;
      await older.handled();
    }
    return state.looks - before;
  };
  expect(await looksIn(500)).toBe(500);
  await looksIn(200);
  expect(await looksIn(600)).toBeLessThan(15);
  counts.push(5);
  await looksIn(60);
  expect(await looksIn(60)).toBe(60);
});

test('gives up after five seconds, and Kafka gets the batch back', async () => {
  const older = createOlderFirst(async () => 1, rising());
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
