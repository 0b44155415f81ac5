import { limitWarnings } from './limits';

test.each([
  ['TIER_50', 50],
  ['TIER_250', 250],
  ['TIER_1K', 1_000],
  ['TIER_2K', 2_000],
  ['TIER_10K', 10_000],
  ['TIER_100K', 100_000],
])('a number of %s is warned of above %i people, and not before', (tier, people) => {
  expect(limitWarnings(tier, people)).toEqual([]);
  expect(limitWarnings(tier, people + 1)).toEqual([
    { code: 'MESSAGING_LIMIT', message: expect.stringContaining(`${people} people`) },
  ]);
});

test.each(['UNLIMITED', 'TIER_NOT_SET', 'constructor', undefined])(
  'warns of nothing for a tier %s',
  (tier) => expect(limitWarnings(tier, 10_000)).toEqual([]),
);
