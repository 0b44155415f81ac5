import type { Logger } from '../telemetry';
import type { Received } from './bus';
import { handleWithRetries } from './retrying';
import type { Topic } from './topics';

const topic = {
  name: 'words.v1',
  codec: { encode: (word: string) => ({ finish: () => Buffer.from(word) }) },
} as unknown as Topic<string>;
const log = { warn: () => undefined } as unknown as Logger;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const received = (word: string, index: number): Received<string> => ({
  message: word,
  key: '',
  span: undefined,
  partition: 0,
  offset: String(index),
});

async function handle(
  words: string[],
  handler: (words: string[]) => void | Promise<void>,
  stopping = false,
) {
  const dead: Array<{ payload: string; reason: string }> = [];
  let beats = 0;
  const done = handleWithRetries(
    {
      topic,
      group: 'test',
      messages: words.map(received),
      handler: async (batch) => handler(batch.map(({ message }) => message)),
      heartbeat: async () => void (beats += 1),
    },
    {
      deadLetter: async (_topic, payload, reason) =>
        void dead.push({ payload: payload.toString(), reason }),
      log,
      stopping: () => stopping,
    },
  );
  await Promise.all([done, jest.advanceTimersByTimeAsync(15_000)]);
  return { dead, beats };
}

test('dead-letters a poison message and handles the rest of its batch', async () => {
  const handled: string[] = [];
  const { dead } = await handle(['a', 'bad', 'c'], (words) => {
    if (words.includes('bad')) throw new TypeError('cannot read');
    handled.push(...words);
  });
  expect(handled).toEqual(['a', 'c']);
  expect(dead).toEqual([{ payload: 'bad', reason: 'handler: TypeError' }]);
});

test('retries until an unavailable store is back and keeps the group membership', async () => {
  let failures = 5;
  const handled: string[] = [];
  const { dead, beats } = await handle(['a', 'b'], (words) => {
    failures -= 1;
    if (failures >= 0) throw new Error('away');
    handled.push(...words);
  });
  expect(handled).toEqual(['a', 'b']);
  expect(dead).toEqual([]);
  expect(beats).toBe(5);
});

test('keeps the group membership while a handler takes long', async () => {
  const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 15_000));
  expect((await handle(['a'], slow)).beats).toBe(7);
});

test('leaves the batch unsettled on shutdown', async () => {
  await expect(
    handle(
      ['a'],
      () => {
        throw new Error('away');
      },
      true,
    ),
  ).rejects.toThrow('away');
});
