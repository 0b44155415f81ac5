// Warns when a broadcast is created whether it exceeds its number's messaging limit. It is a
// warning only: only the upstream knows which people the number has written to in the last 24
// hours, and it refuses sends beyond the limit.
import { peopleOfTier } from '@bmg/common/upstream';
import type { Warning } from '../store/types';

export const MESSAGING_LIMIT = 'MESSAGING_LIMIT';

/** No warning for an unlimited or unknown tier. */
export function limitWarnings(tier: string | undefined, total: number): Warning[] {
  const people = peopleOfTier(tier);
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
