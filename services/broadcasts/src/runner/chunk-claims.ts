// Claims the chunks of a broadcast for this worker, ahead of sending, and returns their leases.
import { chunkNumber } from '../ground/request-id';
import type { ChunkHead } from '../store/chunks';
import type { ActiveBroadcast } from './active-broadcast';
import type { RunnerDependencies } from './dependencies';
import { HeldChunk } from './held-chunk';

/** Per broadcast and worker. Chunks with only doubtful or postponed contacts count too. */
export const HELD_CHUNKS_MAX = 40;

export class ChunkClaims {
  constructor(
    private readonly deps: Pick<RunnerDependencies, 'chunks' | 'stateWriter' | 'settings' | 'log'>,
    private readonly worker: string,
  ) {}

  /** Claims free chunks until `wanted` contacts are ready; returns true when free chunks are left. */
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
}
