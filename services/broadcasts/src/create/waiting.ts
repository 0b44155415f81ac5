// How many broadcasts of one partner may wait.
import { ApiError } from '@bmg/common/errors';
import type { Target } from '@bmg/proto/common';
import type { Broadcasts } from '../store/broadcasts';

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
