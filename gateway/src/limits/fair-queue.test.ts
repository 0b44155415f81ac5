import { createFairQueue, type FairQueueOptions, type Leave } from './fair-queue';

const OPTIONS: FairQueueOptions = {
  ...{ max: 3, of_holder_max: 2, waiting_max: 5, waiting_of_holder_max: 3 },
  wait_ms: 60_000,
};
const NEVER = new AbortController().signal;

let queue: ReturnType<typeof createFairQueue>;
/** The holders in the order in which their waiters were served. */
let served: string[];
let leave: Leave[];

beforeEach(() => {
  [queue, served, leave] = [createFairQueue(OPTIONS), [], []];
});

const enter = (holder: string): boolean => {
  const left = queue.enter(holder);
  if (left) leave.push(left);
  return left !== undefined;
};
const wait = (holder: string, gone = NEVER): Promise<boolean> =>
  queue.wait(holder, gone).then((left) => {
    if (left) {
      served.push(holder);
      leave.push(left);
    }
    return left !== undefined;
  });
/** Frees the place that has been held longest. */
const free = async (): Promise<void> => {
  leave.shift()?.();
  await new Promise(setImmediate);
};

test('admits up to the bound of a holder, and of all', () => {
  expect([enter('a'), enter('a'), enter('a')]).toEqual([true, true, false]);
  expect([enter('b'), enter('c')]).toEqual([true, false]);
});

test('serves those of a holder in order, and holders in turns', async () => {
  for (const holder of ['a', 'a', 'b']) enter(holder);
  const waiting = ['a', 'a', 'a', 'c', 'b'].map((holder) => wait(holder));
  for (let place = 0; place < 5; place += 1) await free();
  expect(await Promise.all(waiting)).toEqual([true, true, true, true, true]);
  expect(served).toEqual(['a', 'c', 'b', 'a', 'a']);
});

test('a free place goes past a holder that has its share in flight', async () => {
  for (const holder of ['b', 'a', 'a']) enter(holder);
  const [of_a, of_b] = [wait('a'), wait('b')];
  await free();
  expect(await of_b).toBe(true);
  expect(served).toEqual(['b']);
  await free();
  expect(await of_a).toBe(true);
});

test('no newcomer of a holder overtakes its waiters', async () => {
  for (const holder of ['a', 'a']) enter(holder);
  const waiting = wait('a');
  leave.shift()?.();
  expect(enter('a')).toBe(false);
  expect(await waiting).toBe(true);
});

test('refuses at once when too many of a holder wait, or too many in all', async () => {
  for (const holder of ['a', 'a', 'b']) enter(holder);
  const waiting = ['a', 'a', 'a'].map((holder) => wait(holder));
  expect(await wait('a')).toBe(false);
  waiting.push(wait('b'), wait('c'));
  expect(await wait('d')).toBe(false);
  for (let place = 0; place < 5; place += 1) await free();
  expect(await Promise.all(waiting)).toEqual([true, true, true, true, true]);
});

test('gives up after the time, and its place in the queue is free again', async () => {
  queue = createFairQueue({ ...OPTIONS, wait_ms: 5, waiting_max: 1 });
  for (const holder of ['a', 'a']) enter(holder);
  expect(await wait('a')).toBe(false);
  const next = wait('a');
  await free();
  expect(await next).toBe(true);
});

test('a caller that has disconnected leaves the queue and takes no place', async () => {
  for (const holder of ['a', 'a']) enter(holder);
  const caller = new AbortController();
  const [gone, next] = [wait('a', caller.signal), wait('a')];
  caller.abort();
  expect(await gone).toBe(false);
  await free();
  expect(await next).toBe(true);
  expect(await wait('a', caller.signal)).toBe(false);
});
