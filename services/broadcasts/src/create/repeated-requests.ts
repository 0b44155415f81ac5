// Finds the broadcast that an earlier request with the same Idempotency-Key created (contract 15.3).
import { ApiError } from '@bmg/common/errors';
import type { Broadcasts } from '../store/broadcasts';
import type { Broadcast } from '../store/types';

const KEY_LIFE_MS = 24 * 3_600_000;
/** A creation takes a second or two: a draft older than this was abandoned. */
const CREATING_LIMIT_MS = 60_000;

export class RepeatedRequests {
  constructor(
    private readonly deps: {
      broadcasts: Pick<Broadcasts, 'findByKey' | 'releaseKey'>;
      discard: (draft: Broadcast) => Promise<void>;
      now: () => Date;
    },
  ) {}

  /** Returns undefined when the key is free. Throws IDEMPOTENCY_KEY_REUSED or IDEMPOTENCY_KEY_IN_USE. */
  async find(key: string, fingerprint: string): Promise<Broadcast | undefined> {
    const found = await this.deps.broadcasts.findByKey(key);
    if (!found) return undefined;
    const age_ms = this.deps.now().getTime() - found.created_at.getTime();
    if (age_ms > KEY_LIFE_MS) {
      await this.deps.broadcasts.releaseKey(found._id, key);
      return undefined;
    }
    if (found.fingerprint !== fingerprint) {
      throw new ApiError(
        'IDEMPOTENCY_KEY_REUSED',
        'this Idempotency-Key was used with another body',
      );
    }
    if (found.status !== 'draft') return found;
    if (age_ms <= CREATING_LIMIT_MS) throw keyInUse();
    await this.deps.discard(found);
    return undefined;
  }

  /** The broadcast of a request that took the key while this one was being checked. */
  async findWinner(key: string | undefined, fingerprint = ''): Promise<Broadcast> {
    const winner = key === undefined ? undefined : await this.find(key, fingerprint);
    if (winner) return winner;
    throw keyInUse();
  }
}

const keyInUse = (): ApiError =>
  new ApiError(
    'IDEMPOTENCY_KEY_IN_USE',
    'the first request with this Idempotency-Key is still running',
    { retry_after_s: 1 },
  );
