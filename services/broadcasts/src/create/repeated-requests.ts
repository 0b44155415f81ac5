// Finds the broadcast that an earlier request with the same Idempotency-Key created (contract 15.3).
import { keyInUse, keyReused, RETENTION_MS } from '@bmg/common/idempotency';
import type { Broadcasts } from '../store/broadcasts';
import type { Broadcast } from '../store/types';

/** A creation takes a second or two: a draft older than this was abandoned. */
const CREATING_LIMIT_MS = 60_000;

/** A request with an Idempotency-Key. */
export interface Keyed {
  /** Each finds the broadcast that the request, or an earlier one with its key, created. */
  idempotency: string[];
  fingerprint: string;
}

export class RepeatedRequests {
  constructor(
    private readonly deps: {
      broadcasts: Pick<Broadcasts, 'findByKey' | 'releaseKey'>;
      discard: (draft: Broadcast) => Promise<void>;
      now: () => Date;
    },
  ) {}

  /** Returns undefined when the key is free. Throws IDEMPOTENCY_KEY_REUSED or IDEMPOTENCY_KEY_IN_USE. */
  async find({ idempotency, fingerprint }: Keyed): Promise<Broadcast | undefined> {
    const found = await this.deps.broadcasts.findByKey(idempotency);
    if (!found) return undefined;
    const age_ms = this.deps.now().getTime() - found.created_at.getTime();
    if (age_ms > RETENTION_MS) {
      await this.deps.broadcasts.releaseKey(found._id);
      return undefined;
    }
    if (found.fingerprint !== fingerprint) throw keyReused();
    if (found.status !== 'draft') return found;
    if (age_ms <= CREATING_LIMIT_MS) throw keyInUse();
    await this.deps.discard(found);
    return undefined;
  }

  /** The broadcast of a request that took the key while this one was being checked. */
  async findWinner({ idempotency, fingerprint = '' }: Partial<Keyed>): Promise<Broadcast> {
    const winner = idempotency && (await this.find({ idempotency, fingerprint }));
    if (winner) return winner;
    throw keyInUse();
  }
}
