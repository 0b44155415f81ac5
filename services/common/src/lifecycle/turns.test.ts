import { inTurn, inTurns } from './turns';

/** Longer than a turn, so that each step is one. */
const STEP_MS = 6;

function work(): void {
  const ends = performance.now() + STEP_MS;
  while (performance.now() < ends);
}

/** Counts the passes of the event loop. */
function countPasses(): { now(): number; stop(): void } {
  let passes = 0;
  let next: NodeJS.Immediate;
  const count = (): void => {
    passes += 1;
    next = setImmediate(count);
  };
  count();
  return { now: () => passes, stop: () => clearImmediate(next) };
}

test('long tasks take one turn each in a pass of the event loop, and all progress', async () => {
  const passes = countPasses();
  const turns: Array<{ pass: number; of: number }> = [];
  const long = (of: number): Promise<void> =>
    inTurns([1, 2, 3, 4, 5], (step) => {
      // The first step is taken at once.
      if (step > 1) turns.push({ pass: passes.now(), of });
      work();
    });
  await Promise.all([long(0), long(1), long(2)]);
  passes.stop();
  expect(turns).toHaveLength(12);
  expect(new Set(turns.map(({ pass }) => pass)).size).toBe(12);
  expect(turns.slice(0, 3).map(({ of }) => of)).toEqual([0, 1, 2]);
});

test('a failing step ends only its own task', async () => {
  const done: number[] = [];
  const failing = inTurns([1, 2], (item) => {
    work();
    if (item === 2) throw new Error('two');
  });
  const other = inTurns([1, 2, 3], (item) => {
    work();
    done.push(item);
  });
  await expect(failing).rejects.toThrow('two');
  await other;
  expect(done).toEqual([1, 2, 3]);
});

test('leaves others as much time as the turns of all long tasks take', async () => {
  const turns: Array<{ began: number; ended: number }> = [];
  const long = (): Promise<void> =>
    inTurns([1, 2, 3, 4], (step) => {
      const began = performance.now();
      work();
      // The first step is taken at once.
      if (step > 1) turns.push({ began, ended: performance.now() });
    });
  await Promise.all([long(), long(), long()]);
  expect(turns).toHaveLength(9);
  for (const [at, { began, ended }] of turns.entries()) {
    const next = turns[at + 1];
    // Timers are up to a millisecond early.
    if (next) expect(next.began - ended).toBeGreaterThanOrEqual(ended - began - 1.5);
  }
});

test('short tasks take one turn each, in their order', async () => {
  const passes = countPasses();
  const turns: Array<[number, number]> = [];
  await Promise.all([1, 2, 3].map((of) => inTurn(() => turns.push([of, passes.now()]))));
  passes.stop();
  expect(turns.map(([of]) => of)).toEqual([1, 2, 3]);
  expect(new Set(turns.map(([, pass]) => pass)).size).toBe(3);
});

test('passes a failure on to its caller, and gives the next one its turn', async () => {
  const failing = inTurn(() => {
    throw new Error('broken');
  });
  const next = inTurn(() => 'done');
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('done');
});
