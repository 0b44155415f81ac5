import { createDepartures } from './departures';
import type { Slots } from '../pace/redis-pace';
import type { ContactSend } from './active-broadcast';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const sends = (...indices: number[]): ContactSend[] =>
  indices.map((index) => ({ index }) as ContactSend);

const ALONE = { alone: true, interval_ms: 50, took_ms: 0 };
const SHARED = { alone: false, interval_ms: 50, took_ms: 0 };

function departures(slots: Array<Slots | undefined> = [], share = 0.95) {
  const gone: Array<{ index: number; at: number }> = [];
  const asked: number[] = [];
  const began = performance.now();
  return {
    gone,
    asked,
    board: createDepartures({
      share,
      depart: ({ index }) => void gone.push({ index, at: Math.round(performance.now() - began) }),
      reserve: async (count) => {
        asked.push(count);
        return slots.shift();
      },
    }),
  };
}

test('each contact departs at its slot', async () => {
  const { board, gone } = departures();
  board.add(sends(1, 2, 3), ALONE, performance.now() + 100);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(gone).toEqual([
    { index: 1, at: 100 },
    { index: 2, at: 150 },
    { index: 3, at: 200 },
  ]);
});

test('a worker that has the number to itself catches up, never above the number’s rate', async () => {
  const { board, gone, asked } = departures();
  const late = Array.from({ length: 20 }, (_, at) => at);
  board.add(sends(...late), ALONE, performance.now() - 900);
  await jest.advanceTimersByTimeAsync(2_000);
  expect(asked).toEqual([]);
  expect(gone.map(({ index }) => index)).toEqual(late);
  // 50 ms are 95 % of the rate: no second may hold more than 21.05.
  for (const { at } of gone) {
    expect(gone.filter((one) => one.at >= at && one.at < at + 1_000).length).toBeLessThanOrEqual(
      21,
    );
  }
  expect(gone.at(-1)?.at).toBeLessThan(20 * 50);
});

test('a worker that shares the number reserves a new slot for one missed by far', async () => {
  const { board, gone, asked } = departures([
    undefined,
    { count: 1, wait_ms: 400, ...SHARED },
    { count: 0, wait_ms: 30, ...SHARED },
    { count: 5, wait_ms: 100, ...SHARED },
  ]);
  board.add(sends(1, 2, 3), SHARED, performance.now() - 120);
  await jest.advanceTimersByTimeAsync(2_000);
  // 1 and 2 were 120 and 70 ms late, 3 only 20.
  expect(gone[0]?.index).toBe(3);
  expect(gone.map(({ index }) => index).sort()).toEqual([1, 2, 3]);
  expect(asked).toEqual([2, 2, 1, 1]);
});

test.each([
  [0.95, [30, 50], [51]],
  [0.99, [20], [21, 50]],
  // The lower bound applies even if the share leaves no room.
  [1, [20], [21]],
])(
  'with a share of %d, a delay of %j ms keeps the slot and one of %j ms does not',
  async (share, intime, late) => {
    for (const ms of [...intime, ...late]) {
      const { board, gone, asked } = departures([], share);
      board.add(sends(1), SHARED, performance.now() - ms);
      expect([ms, gone.length, asked.length]).toEqual(
        intime.includes(ms) ? [ms, 1, 0] : [ms, 0, 1],
      );
      board.close();
    }
  },
);

test.each([
  [30, 1],
  [31, 0],
])('after a reservation of 20 ms, a delay of %d ms leaves %d slots kept', (ms, kept) => {
  const { board, gone } = departures();
  board.add(sends(1), { ...SHARED, took_ms: 20 }, performance.now() - ms);
  expect(gone).toHaveLength(kept);
  board.close();
});

test('close returns the contacts that have not departed', async () => {
  const { board, gone } = departures();
  board.add(sends(1, 2, 3), { ...ALONE, interval_ms: 100 }, performance.now());
  await jest.advanceTimersByTimeAsync(50);
  expect(board.close().map(({ index }) => index)).toEqual([2, 3]);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(gone.map(({ index }) => index)).toEqual([1]);
});
