// Warns when a broadcast is created whether it exceeds its number's messaging limit. It is a
// warning only: only the upstream knows which people the number has written to in the last 24
// hours, and it refuses sends beyond the limit.
import type { Warning } from '../store/types';

/** Conversations that a number may start in 24 hours, by tier (contract, Client). */
const PEOPLE_OF_TIER: ReadonlyMap<string | undefined, number> = new Map([
  ['TIER_50', 50],
  ['TIER_250', 250],
  ['TIER_1K', 1_000],
  ['TIER_2K', 2_000],
  ['TIER_10K', 10_000],
  ['TIER_100K', 100_000],
]);

export const MESSAGING_LIMIT = 'MESSAGING_LIMIT';

/** No warning for an unlimited or unknown tier. */
export function limitWarnings(tier: string | undefined, total: number): Warning[] {
  const people = PEOPLE_OF_TIER.get(tier);
  if (people === undefined || total <= people) return [];
  return [
    {
      code: MESSAGING_LIMIT,
      message:
        `the number may write to ${people} people in 24 hours outside an open window (${tier}), and the broadcast has ` +
        `${total}: expect the upstream to refuse the rest`,
    },
  ];
}
