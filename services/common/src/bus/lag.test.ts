// Lag out of what Kafka says of a group and of its topic.
import { behind } from './lag';

const ends = [
  { partition: 0, low: '10', high: '25' },
  { partition: 1, low: '0', high: '7' },
];

test('lag is what lies between the committed offset and the end of each partition', () => {
  const committed = [
    { partition: 0, offset: '20' },
    { partition: 1, offset: '7' },
  ];
  expect(behind(committed, ends)).toEqual([
    [0, 5],
    [1, 0],
  ]);
});

test('a group that has committed nothing is behind by all that is kept', () => {
  expect(behind([{ partition: 0, offset: '-1' }], ends)).toEqual([
    [0, 15],
    [1, 7],
  ]);
});

test('what retention has removed is not lag, and a commit that overtook the question is none either', () => {
  const committed = [
    { partition: 0, offset: '3' },
    { partition: 1, offset: '9' },
  ];
  expect(behind(committed, ends)).toEqual([
    [0, 15],
    [1, 0],
  ]);
});
