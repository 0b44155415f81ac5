import { messagingLimitTier } from './limits';

test.each([
  [250, 'TIER_250'],
  [1000, 'TIER_1K'],
  ['2000', 'TIER_2K'],
  [10000, 'TIER_10K'],
  [100000, 'TIER_100K'],
  [-1, 'UNLIMITED'],
  ['TIER_UNLIMITED', 'UNLIMITED'],
  ['TIER_2K', 'TIER_2K'],
  ['TIER_NOT_SET', 'TIER_NOT_SET'],
  [undefined, null],
])('messagingLimitTier(%p) is %p', (limit, tier) => {
  expect(messagingLimitTier(limit)).toBe(tier);
});
