// Deletes data that is no longer needed: contacts of ended broadcasts and drafts that a crash left
// behind, and broadcasts whose retention period is over.
import { chunkIds } from '../request-id';
import { removeContactsOf } from '../store/remove-contacts';
import type { Broadcast } from '../store/types';
import type { RunnerDependencies } from './dependencies';

const BATCH_MAX = 100;
/** A creation takes seconds: a draft older than this was abandoned. */
const DRAFT_LIFE_MS = 10 * 60_000;
/** As long as usage is kept. Chunks have no date, so an index that expires documents cannot do this. */
const RETENTION_MS = 400 * 86_400_000;

type SweeperDependencies = Pick<RunnerDependencies, 'broadcasts' | 'chunks' | 'log'>;

export async function sweep(deps: SweeperDependencies): Promise<void> {
  const { broadcasts } = deps;
  for (const ended of await broadcasts.endedWithContacts(BATCH_MAX)) {
    await removeContactsOf(ended, deps);
  }
  const ago = (ms: number): Date => new Date(Date.now() - ms);
  const abandoned = await broadcasts.draftsBefore(ago(DRAFT_LIFE_MS), BATCH_MAX);
  const expired = await broadcasts.endedBefore(ago(RETENTION_MS), BATCH_MAX);
  for (const broadcast of [...abandoned, ...expired]) await remove(broadcast, deps);
}

async function remove(
  broadcast: Broadcast,
  { broadcasts, chunks }: SweeperDependencies,
): Promise<void> {
  const ids = chunkIds(broadcast);
  await chunks.removeContacts(ids);
  await chunks.remove(ids);
  await broadcasts.remove(broadcast._id);
}
