// Lag, computed from what Kafka reports about a group and its topic.
import { behind } from './groups';

const ends = [
  { partition: 0, low: '10', high: '25' },
  { partition: 1, low: '0', high: '7' },
];

test('lag is the end of a partition minus the committed offset', () => {
  const committed = [
    { partition: 0, offset: '20' },
    { partition: 1, offset: '7' },
  ];
  expect(behind(committed, ends)).toEqual([
    { partition: 0, behind: 5, end: 25 },
    { partition: 1, behind: 0, end: 7 },
  ]);
});

test('a group without a commit lags by all retained messages', () => {
  expect(behind([{ partition: 0, offset: '-1' }], ends)).toEqual([
    { partition: 0, behind: 15, end: 25 },
    { partition: 1, behind: 7, end: 7 },
  ]);
});

test('does not count messages removed by retention or committed during the query', () => {
  const committed = [
    { partition: 0, offset: '3' },
    { partition: 1, offset: '9' },
  ];
  expect(behind(committed, ends)).toEqual([
    { partition: 0, behind: 15, end: 25 },
    { partition: 1, behind: 0, end: 7 },
  ]);
});
