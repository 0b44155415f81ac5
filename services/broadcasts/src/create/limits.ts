// The limits of a creation: how many broadcasts of one partner may wait, and the messaging limit of
// the number.
import { ApiError } from '@bmg/common/errors';
import type { Target } from '@bmg/proto/common';
import type { Broadcasts } from '../records';
import { peopleOfTier } from '@bmg/common/upstream';
import type { Warning } from '../ground/types';

export interface WaitingLimit {
  broadcasts: Pick<Broadcasts, 'countWaiting'>;
  /** Broadcasts of one partner that are pending, scheduled, paused or wait for approval. */
  waiting_max: number;
}

const RETRY_AFTER_S = 60;

/** Requests that are checked concurrently may exceed the limit by their number. */
export async function waitingRefusal(
  { broadcasts, waiting_max }: WaitingLimit,
  { partner_id }: Target,
): Promise<ApiError | undefined> {
  if ((await broadcasts.countWaiting(partner_id, waiting_max)) < waiting_max) return undefined;
  return new ApiError(
    'QUOTA_EXCEEDED',
    `${waiting_max} broadcasts are pending, scheduled, paused or wait for approval, the most that a partner may have: cancel some, or try again once some have started`,
    { retryable: true, retry_after_s: RETRY_AFTER_S, details: { limit: waiting_max } },
  );
}

/** No warning for an unlimited or unknown tier. */
export function limitWarnings(tier: string | undefined, total: number): Warning[] {
  const people = peopleOfTier(tier);
  if (people === undefined || total <= people) return [];
  return [
    {
      code: 'MESSAGING_LIMIT',
      message:
        `the number may write to ${people} people in 24 hours outside an open window (${tier}), and the broadcast has ` +
        `${total}: expect the upstream to refuse the rest`,
    },
  ];
}
