// Takes one broadcast through its life on this worker: reads the number's limit, keeps enough
// contacts claimed, and starts, stops and completes the broadcast. Sending is the lane's job.
import { ApiError } from '@bmg/common/errors';
import { startSpan } from '@bmg/common/telemetry';
import { limitOf, windowOf } from '../pace';
import { chunkIds } from '../ground/request-id';
import { removeContactsOf } from '../records';
import type { ActiveBroadcast } from './active-broadcast';
import { HELD_CHUNKS_MAX, ChunkUpkeep } from './chunk-upkeep';
import type { RunnerDependencies } from './dependencies';
import { DoubtfulSends } from './doubtful-sends';
import type { HeldChunk } from './held-chunk';
import { codeOf, stopsBroadcast } from './outcome';

/**
 * How long the directory's answer about a number is cached here; messaging looks it up for each
 * send.
 */
const LIMIT_AGE_MAX_MS = 3_000;
const LIMIT_TIMEOUT_MS = 5_000;
/** How often the leases of a broadcast are read while there is nothing to claim. */
const READ_CHUNKS_EVERY_MS = 1_000;
/** Contacts claimed ahead of sending, in windows of the pace. */
const AHEAD_WINDOWS = 3;

export class BroadcastKeeper {
  private readonly upkeep: ChunkUpkeep;
  private readonly settling: DoubtfulSends;

  constructor(
    private readonly deps: RunnerDependencies,
    worker: string,
  ) {
    this.upkeep = new ChunkUpkeep(deps, worker);
    this.settling = new DoubtfulSends(deps);
  }

  /** One round over a broadcast; returns true when this worker has nothing left to do for it. */
  async keep(broadcast: ActiveBroadcast): Promise<boolean> {
    if (!broadcast.ended) await this.supply(broadcast);
    // Also if it ended or was paused in the meantime: the next worker need not wait for the leases.
    if (!broadcast.ended) return false;
    await this.release(broadcast);
    return broadcast.inFlightCount() === 0;
  }

  private async supply(broadcast: ActiveBroadcast): Promise<void> {
    await this.readLimit(broadcast);
    void this.settling.settle(broadcast);
    const held = broadcast.chunks.length;
    for (const chunk of [...broadcast.chunks]) await this.keepChunk(broadcast, chunk);
    await this.claimOrComplete(broadcast, broadcast.chunks.length < held);
  }

  /** Moves the broadcast to `processing`; false if it was cancelled: then nothing may be sent. */
  async start(broadcast: ActiveBroadcast): Promise<boolean> {
    if (broadcast.started) return true;
    const { broadcasts } = this.deps;
    const moved = await broadcasts.move(broadcast.id, 'start', { started_at: new Date() });
    // Another worker may have started it.
    const stored = moved ?? (await broadcasts.load([broadcast.id]))[0];
    broadcast.started = stored?.status === 'processing';
    broadcast.ended ||= !broadcast.started;
    return broadcast.started;
  }

  /** Returns the leases of the chunks without sends in flight. */
  release(broadcast: ActiveBroadcast): Promise<void> {
    return this.upkeep.release(broadcast);
  }

  private async readLimit(broadcast: ActiveBroadcast): Promise<void> {
    if (Date.now() - broadcast.limit_read_at < LIMIT_AGE_MAX_MS) return;
    broadcast.limit_read_at = Date.now();
    const { partner_id, waba_id, phone_number_id } = broadcast.stored;
    const span = startSpan('broadcast number');
    try {
      const credential = await this.deps.credentials.forSending(
        { partner_id, waba_id, phone_number_id, directory_version: '' },
        {
          deadline: Date.now() + LIMIT_TIMEOUT_MS,
          span: span.spanContext(),
          request_id: `broadcast_${broadcast.id}`,
        },
      );
      broadcast.limit_per_sec = limitOf(credential);
    } catch (error) {
      if (error instanceof ApiError && stopsBroadcast(error)) await this.stop(broadcast, error);
      // While the directory is unavailable, the last limit stays in use.
      else {
        const fields = { err: error, ...broadcast.logged };
        this.deps.log.warn(fields, 'failed to read the limit of a number');
      }
    } finally {
      span.end();
    }
  }

  private async stop(broadcast: ActiveBroadcast, error: ApiError): Promise<void> {
    broadcast.stop ??= { code: codeOf(error), message: error.message };
    await this.deps.broadcasts.stop(broadcast.id, broadcast.stop);
  }

  private async keepChunk(broadcast: ActiveBroadcast, chunk: HeldChunk): Promise<void> {
    const { stop } = broadcast;
    if (stop && !chunk.leaseLost && (await this.start(broadcast))) {
      await this.upkeep.failWaiting(chunk, stop);
    }
    if (!chunk.leaseLost) await this.upkeep.giveUpDoubtful(chunk);
    if (chunk.leaseLost ? chunk.inFlight.size === 0 : chunk.isDone()) {
      broadcast.removeChunk(chunk);
      return;
    }
    await this.upkeep.refreshIdle(chunk);
    if (chunk.isDone()) broadcast.removeChunk(chunk);
  }

  private async claimOrComplete(broadcast: ActiveBroadcast, chunkRemoved: boolean): Promise<void> {
    const wanted = AHEAD_WINDOWS * windowOf(broadcast.limit_per_sec ?? 1);
    if (broadcast.chunks.length >= HELD_CHUNKS_MAX) return;
    if (broadcast.readyCount(Date.now()) >= wanted) return;
    // Reading the leases costs a query: at once when it may find something, otherwise at an
    // interval.
    const due = Date.now() - broadcast.chunks_read_at >= READ_CHUNKS_EVERY_MS;
    if (!due && !chunkRemoved && !broadcast.has_unclaimed_chunks) return;
    broadcast.chunks_read_at = Date.now();
    const heads = await this.deps.chunks.heads(chunkIds(broadcast.stored));
    if (heads.every(({ done }) => done)) await this.complete(broadcast);
    else broadcast.has_unclaimed_chunks = await this.upkeep.claim(broadcast, heads, wanted);
  }

  private async complete(broadcast: ActiveBroadcast): Promise<void> {
    if (!(await this.start(broadcast))) return;
    const completed = await this.deps.broadcasts.move(broadcast.id, 'complete', {
      completed_at: new Date(),
    });
    broadcast.ended = true;
    // Another worker has completed it.
    if (!completed) return;
    this.deps.log.info(
      { ...broadcast.logged, total: completed.total, stopped: broadcast.stop?.code },
      'broadcast completed',
    );
    await removeContactsOf(completed, this.deps);
  }
}
