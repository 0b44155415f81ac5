// Keeps the chunks of a broadcast for this worker: claims them ahead of sending, decides about
// contacts that are not being sent, and returns the leases. It fails the rest of a stopped
// broadcast, gives up on doubtful sends, and reads from the store what status events have changed.
import { maskPhone } from '@bmg/common/ids';
import { metrics } from '@bmg/common/telemetry';
import { indicesOf, OUTCOME_UNKNOWN, type Change } from '../ground/contact-state';
import type { Stop } from '../ground/types';
import type { RunnerDependencies } from './dependencies';
import { HeldChunk } from './held-chunk';
import { chunkNumber } from '../ground/request-id';
import type { ChunkHead } from '../records';
import type { ActiveBroadcast } from './active-broadcast';

/** How often an idle chunk is read again while status events are awaited. */
const REFRESH_EVERY_MS = 1_000;

/** Per broadcast and worker. Chunks with only doubtful or postponed contacts count too. */
export const HELD_CHUNKS_MAX = 40;

export class ChunkUpkeep {
  constructor(
    private readonly deps: Pick<RunnerDependencies, 'chunks' | 'stateWriter' | 'settings' | 'log'>,
    private readonly worker: string,
  ) {}

  /**
   * Claims free chunks until `wanted` contacts are ready; returns true when free chunks are left.
   */
  async claim(broadcast: ActiveBroadcast, heads: ChunkHead[], wanted: number): Promise<boolean> {
    const { chunks, stateWriter, settings } = this.deps;
    const now = Date.now();
    const held = new Set(broadcast.chunks.map(({ id }) => id));
    const free = heads.filter(
      ({ _id, done, lease_until }) => !done && !held.has(_id) && lease_until.getTime() <= now,
    );
    // In the order of the request.
    for (const { _id } of free.sort((a, b) => chunkNumber(a._id) - chunkNumber(b._id))) {
      const full = broadcast.chunks.length >= HELD_CHUNKS_MAX;
      if (full || (!broadcast.stop && broadcast.readyCount(now) >= wanted)) return true;
      const until = new Date(Date.now() + settings.lease_ms);
      const chunk = await chunks.claim(_id, this.worker, new Date(), until);
      // Another worker was faster.
      if (!chunk) continue;
      stateWriter.adopt(chunk);
      const contacts = (await chunks.contacts(_id)) ?? [];
      broadcast.chunks.push(new HeldChunk(chunk, contacts, Date.now(), settings.grace_ms));
    }
    return false;
  }

  /** Returns the leases of all chunks without sends in flight. */
  async release(broadcast: ActiveBroadcast): Promise<void> {
    for (const chunk of [...broadcast.chunks]) {
      if (chunk.inFlight.size > 0) continue;
      if (!chunk.leaseLost) {
        // A lease that cannot be returned expires by itself.
        await this.deps.chunks
          .release(chunk.id, chunk.fence)
          .catch((error: unknown) =>
            this.deps.log.warn({ err: error }, 'failed to return the lease of a chunk'),
          );
      }
      broadcast.removeChunk(chunk);
    }
  }

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

  /**
   * Status events may have decided doubtful contacts, and a lost write may have left some waiting.
   */
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
