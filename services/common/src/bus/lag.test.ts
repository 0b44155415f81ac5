// Lag, computed from what Kafka reports about a group and its topic.
import { behind } from './groups';

const ends = [
  { partition: 0, low: '10', high: '25' },
  { partition: 1, low: '0', high: '7' },
];

test.each<[string, offsets: string[], behind: number[]]>([
  ['the end of a partition minus the committed offset', ['20', '7'], [5, 0]],
  ['all retained messages without a commit', ['-1'], [15, 7]],
  // Removed by retention, and committed during the query.
  ['no message below the oldest or above the end', ['3', '9'], [15, 0]],
])('lag is %s', (_name, offsets, [first, second]) => {
  const committed = offsets.map((offset, partition) => ({ partition, offset }));
  expect(behind(committed, ends)).toEqual([
    { partition: 0, behind: first, end: 25 },
    { partition: 1, behind: second, end: 7 },
  ]);
});
