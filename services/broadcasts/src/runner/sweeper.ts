// Deletes data that is no longer needed: contacts of ended broadcasts and drafts that a crash left
// behind, and broadcasts whose retention period is over. Cancels broadcasts that stay paused or
// without an approval.
import { metrics } from '@bmg/common/telemetry';
import { APPROVAL_MAX_MS, PAUSED_MAX_MS } from '../ground/broadcast-machine';
import { chunkIds } from '../ground/request-id';
import { removeContactsOf } from '../records';
import type { RunnerDependencies } from './dependencies';

const BATCH_MAX = 100;
/** A creation takes seconds: a draft older than this was abandoned. */
const DRAFT_LIFE_MS = 10 * 60_000;
/**
 * Usage is kept as long. Chunks have no date, so an index that expires documents cannot do this.
 */
const RETENTION_MS = 400 * 86_400_000;
/** States that a partner ends: a broadcast that stays in one of them for too long is cancelled. */
const WAITS = [
  {
    status: 'paused',
    since: 'paused_at',
    max_ms: PAUSED_MAX_MS,
    stop: { code: 'pause_expired', message: 'it was paused for seven days' },
  },
  {
    status: 'awaiting_approval',
    since: 'created_at',
    max_ms: APPROVAL_MAX_MS,
    stop: { code: 'approval_expired', message: 'it was not approved within seven days' },
  },
] as const;

type SweeperDependencies = Pick<RunnerDependencies, 'broadcasts' | 'chunks' | 'log'>;

export async function sweep(deps: SweeperDependencies): Promise<void> {
  const { broadcasts } = deps;
  const ago = (ms: number): Date => new Date(Date.now() - ms);
  // Their contacts are removed below.
  for (const { status, since, max_ms, stop } of WAITS) {
    for (const { _id } of await broadcasts.inStateBefore(status, since, ago(max_ms), BATCH_MAX)) {
      await broadcasts.move(_id, 'cancel', { stop });
    }
    metrics.broadcasts_active.set({ status }, await broadcasts.countInState(status));
  }
  for (const ended of await broadcasts.endedWithContacts(BATCH_MAX)) {
    await removeContactsOf(ended, deps);
  }
  const abandoned = await broadcasts.inStateBefore(
    'draft',
    'created_at',
    ago(DRAFT_LIFE_MS),
    BATCH_MAX,
  );
  const expired = await broadcasts.endedBefore(ago(RETENTION_MS), BATCH_MAX);
  for (const broadcast of [...abandoned, ...expired]) {
    await deps.chunks.remove(chunkIds(broadcast));
    await broadcasts.remove(broadcast._id);
  }
}
