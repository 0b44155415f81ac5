// Decides about the contacts of a held chunk that are not being sent: fails the rest of a stopped
// broadcast, gives up on doubtful sends, and reads from the store what status events have changed.
import { maskPhone } from '@bmg/common/ids';
import { metrics } from '@bmg/common/telemetry';
import { indicesOf, OUTCOME_UNKNOWN, type Change } from '../ground/contact-state';
import type { Stop } from '../store/types';
import type { RunnerDependencies } from './dependencies';
import type { HeldChunk } from './held-chunk';

/** How often an idle chunk is read again while status events are awaited. */
const REFRESH_EVERY_MS = 1_000;

export class ChunkUpkeep {
  constructor(private readonly deps: Pick<RunnerDependencies, 'stateWriter' | 'settings'>) {}

  /** Fails the waiting contacts of a broadcast that stopped, with the reason. */
  async failWaiting(chunk: HeldChunk, { code }: Stop): Promise<void> {
    const stored = await this.deps.stateWriter.refresh(chunk.id);
    const waiting = indicesOf(stored?.progress.states ?? '', 'waiting').filter(
      (index) => !chunk.inFlight.has(index),
    );
    chunk.clearWaiting();
    const [first] = waiting;
    if (!stored || first === undefined) return;
    // One example is shown per code, so masking the first contact is enough.
    const example = maskPhone(chunk.contact(first).recipient);
    const failed = await this.apply(
      chunk,
      waiting.map((index) => ({ index, event: 'drop', code, example })),
    );
    metrics.broadcast_sends.inc({ outcome: 'drop' }, failed);
  }

  /** Contacts in doubt whose status event did not arrive in time fail with `outcome_unknown`. */
  async giveUpDoubtful(chunk: HeldChunk): Promise<void> {
    const expired = chunk.takeExpired(Date.now());
    if (expired.length === 0) return;
    const givenUp = await this.apply(
      chunk,
      expired.map((index) => ({
        index,
        event: 'expire',
        example: maskPhone(chunk.contact(index).recipient),
      })),
    );
    metrics.broadcast_sends.inc({ outcome: OUTCOME_UNKNOWN }, givenUp);
  }

  /** Status events may have decided doubtful contacts, and a lost write may have left some waiting. */
  async refreshIdle(chunk: HeldChunk): Promise<void> {
    const recent = Date.now() - chunk.refreshed_at < REFRESH_EVERY_MS;
    if (!chunk.isIdle() || (recent && chunk.hasDoubtful())) return;
    const stored = await this.deps.stateWriter.refresh(chunk.id);
    if (!stored || stored.fence !== chunk.fence) chunk.leaseLost = true;
    else chunk.refresh(stored, Date.now(), this.deps.settings.grace_ms);
  }

  /** Returns how many contacts changed. */
  private async apply(chunk: HeldChunk, changes: Change[]): Promise<number> {
    const applied = await this.deps.stateWriter.apply(chunk.id, changes, { fence: chunk.fence });
    if (applied.refused) chunk.leaseLost = true;
    else if (applied.chunk) chunk.refresh(applied.chunk, Date.now(), this.deps.settings.grace_ms);
    return applied.moved.filter(Boolean).length;
  }
}
