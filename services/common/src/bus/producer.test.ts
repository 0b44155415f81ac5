import { partitionOf } from './publisher';

const partitionMetadata = Array.from({ length: 12 }, (_unused, index) => ({
  partitionErrorCode: 0,
  partitionId: index,
  leader: 0,
  replicas: [],
  isr: [],
}));
const place = (key: string): number =>
  partitionOf({ topic: 't', partitionMetadata, message: { key, value: null } });

test('maps a key to the same partition every time', () => {
  // Written out: a change would move conversations between partitions, and their order with them.
  expect(['', '800000000000001', 'p|800000000000001|15550100777'].map(place))
    .toMatchInlineSnapshot(`
    [
      8,
      9,
      7,
    ]
  `);
});

test('spreads consecutive numbers evenly over the partitions', () => {
  const counts = Array(12).fill(0) as number[];
  for (let index = 0; index < 12_000; index += 1) {
    const at = place(`800000000000001|${15_550_100_000 + index}`);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  for (const count of counts) {
    expect(count).toBeGreaterThan(800);
    expect(count).toBeLessThan(1_200);
  }
});
