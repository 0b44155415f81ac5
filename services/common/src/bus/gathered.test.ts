import type { Received } from './bus';
import { gathered } from './gathered';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const APART_MS = 100;
const batchOf = (...messages: string[]): Received<string>[] =>
  messages.map((message) => ({ message, key: '', span: undefined, partition: 0, offset: '0' }));

/** A handler that records its calls, and fails for the message `bad`. */
function recorder() {
  const calls: string[][] = [];
  const handle = gathered<string>(APART_MS, async (batch) => {
    const messages = batch.map(({ message }) => message);
    calls.push(messages);
    if (messages.includes('bad')) throw new TypeError('bad');
  });
  return { calls, handle };
}
const settle = () => jest.advanceTimersByTimeAsync(1);

test('handles a batch at once, and joins batches that arrive soon after it', async () => {
  const { calls, handle } = recorder();
  const first = handle(batchOf('a'));
  await settle();
  expect(calls).toEqual([['a']]);
  await first;
  const rest = [handle(batchOf('b')), handle(batchOf('c', 'd'))];
  await settle();
  expect(calls).toEqual([['a']]);
  await jest.advanceTimersByTimeAsync(APART_MS);
  expect(calls).toEqual([['a'], ['b', 'c', 'd']]);
  await Promise.all(rest);
});

test('handles a batch at once again after a pause', async () => {
  const { calls, handle } = recorder();
  void handle(batchOf('a'));
  await jest.advanceTimersByTimeAsync(APART_MS);
  const next = handle(batchOf('b'));
  await settle();
  expect(calls).toEqual([['a'], ['b']]);
  await next;
});

test('handles joined batches one by one after a failure, rejects only the one at fault, and works on', async () => {
  const { calls, handle } = recorder();
  void handle(batchOf('a'));
  await settle();
  const outcomes = Promise.allSettled(['b', 'bad', 'c'].map((name) => handle(batchOf(name))));
  await jest.advanceTimersByTimeAsync(APART_MS);
  expect((await outcomes).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  void handle(batchOf('d'));
  await jest.advanceTimersByTimeAsync(APART_MS);
  expect(calls).toEqual([['a'], ['b', 'bad', 'c'], ['b'], ['bad'], ['c'], ['d']]);
});
