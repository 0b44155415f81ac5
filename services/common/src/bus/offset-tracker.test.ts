import fc from 'fast-check';
import { createOffsetTracker } from './offset-tracker';

const offsets = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_unused, index) => String(from + index));

test('commits up to the first unsettled message in any order of settling', () => {
  const tracker = createOffsetTracker();
  const settle = tracker.begin(0, offsets(10, 3));
  settle('11');
  expect(tracker.hasSettled).toBe(false);
  expect(tracker.take()).toEqual([]);
  settle('10');
  expect(tracker.hasSettled).toBe(true);
  expect(tracker.take()).toEqual([{ partition: 0, offset: '12' }]);
  expect(tracker.hasSettled).toBe(false);
  expect(tracker.take()).toEqual([]);
  settle('12');
  expect(tracker.take()).toEqual([{ partition: 0, offset: '13' }]);
  expect(tracker.size).toBe(0);
});

test('continues past offsets that compaction removed', () => {
  const tracker = createOffsetTracker();
  const settle = tracker.begin(0, ['5', '9']);
  settle('5');
  settle('9');
  expect(tracker.take()).toEqual([{ partition: 0, offset: '10' }]);
});

test('settles a batch that is fetched again after a failure', () => {
  const tracker = createOffsetTracker();
  tracker.begin(0, offsets(0, 2));
  const settle = tracker.begin(0, offsets(0, 4));
  for (const offset of offsets(0, 4)) settle(offset);
  expect(tracker.take()).toEqual([{ partition: 0, offset: '4' }]);
});

test('a message handed out twice settles once and never moves the position back', () => {
  const tracker = createOffsetTracker();
  const first = tracker.begin(0, offsets(0, 3));
  const second = tracker.begin(0, offsets(0, 3));
  for (const offset of offsets(0, 3)) first(offset);
  expect(tracker.take()).toEqual([{ partition: 0, offset: '3' }]);
  for (const offset of offsets(0, 3)) second(offset);
  expect(tracker.take()).toEqual([]);
  expect(tracker.size).toBe(0);
});

test('offers offsets again that could not be committed', () => {
  const tracker = createOffsetTracker();
  const settle = tracker.begin(3, offsets(0, 2));
  settle('0');
  const taken = tracker.take();
  settle('1');
  tracker.restore(taken);
  expect(tracker.take()).toEqual([{ partition: 3, offset: '2' }]);
  tracker.restore([{ partition: 3, offset: '2' }]);
  expect(tracker.take()).toEqual([{ partition: 3, offset: '2' }]);
});

test('ignores offsets settled after a reassignment', () => {
  const tracker = createOffsetTracker();
  const settle = tracker.begin(0, offsets(0, 2));
  settle('0');
  const taken = tracker.take();
  tracker.reset();
  settle('1');
  tracker.restore(taken);
  expect(tracker.take()).toEqual([]);
});

test('commits exactly the settled prefix for any order of settling', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }).chain((count) =>
        fc.record({
          count: fc.constant(count),
          order: fc.shuffledSubarray(Array.from({ length: count }, (_unused, index) => index)),
        }),
      ),
      ({ count, order }) => {
        const tracker = createOffsetTracker();
        const settle = tracker.begin(0, offsets(100, count));
        const settled = new Set<number>();
        let committed = 100;
        for (const index of order) {
          settle(String(100 + index));
          settled.add(100 + index);
          for (const { offset } of tracker.take()) committed = Number(offset);
          let expected = 100;
          while (settled.has(expected)) expected += 1;
          expect(committed).toBe(expected);
        }
      },
    ),
  );
});
