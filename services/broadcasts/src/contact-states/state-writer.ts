// The single writer of contact states in this process. Changes that arrive during a write are
// collected into the next one. Each write is conditional on the chunk's revision, so that workers
// and status events on other replicas are never overwritten. A write stores states and counters
// together.
import type { Component } from '@bmg/common/lifecycle';
import type { Change } from '../ground/contact-state';
import { LRUCache } from '@bmg/common/cache';
import {
  planWrite,
  type Applied,
  type Guard,
  type PendingChanges,
  type PlannedWrite,
} from './plan-write';
import type { Chunks } from '../records';
import type { Chunk } from '../ground/types';

/** Chunks per write. */
const WRITE_MAX = 200;
/** After this many lost races for a chunk its changes are rejected, and the caller repeats them. */
const CONFLICTS_MAX = 50;

/**
 * About 2 KiB each. A stale chunk is harmless: the conditional write fails, and it is read again.
 */
const CHUNKS_MAX = 4_000;

export class StateWriter implements Component {
  readonly name = 'state-writer';
  private readonly cache = new LRUCache<string, Chunk>({ max: CHUNKS_MAX });
  private readonly pending = new Map<string, PendingChanges[]>();
  private writing: Promise<void> | undefined;

  constructor(private readonly chunks: Pick<Chunks, 'load' | 'swap'>) {}

  /**
   * Resolves once the changes are stored. Rejects when the store does not answer; the changes may
   * then be stored or not. Repeating them is safe, but a repeated `mark` reports `moved: false`.
   */
  apply(chunk_id: string, changes: Change[], guard: Guard = {}): Promise<Applied> {
    return new Promise((resolve, reject) =>
      this.enqueue(chunk_id, { changes, guard, conflicts: 0, resolve, reject }),
    );
  }

  /** Takes over a chunk as a claim has returned it. */
  adopt(chunk: Chunk): void {
    this.cache.set(chunk._id, chunk);
  }

  async refresh(chunk_id: string): Promise<Chunk | undefined> {
    const [chunk] = await this.chunks.load([chunk_id]);
    // A running write may have read a newer revision; the store checks revisions in any case.
    if (chunk && !this.writing) this.adopt(chunk);
    return chunk;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    while (this.writing) await this.writing;
  }

  private enqueue(chunk_id: string, change: PendingChanges): void {
    const queue = this.pending.get(chunk_id);
    if (queue) queue.push(change);
    else this.pending.set(chunk_id, [change]);
    // Starts after this turn of the event loop, so that changes of the same turn are written
    // together.
    this.writing ??= new Promise<void>((start) => setImmediate(start)).then(() => this.writeAll());
  }

  private async writeAll(): Promise<void> {
    while (this.pending.size > 0) {
      const batch = [...this.pending].slice(0, WRITE_MAX);
      for (const [id] of batch) this.pending.delete(id);
      try {
        await this.write(batch);
      } catch (error) {
        for (const [id, queue] of batch) {
          this.cache.delete(id);
          for (const { reject } of queue) reject(error);
        }
      }
    }
    this.writing = undefined;
  }

  private async write(batch: Array<[string, PendingChanges[]]>): Promise<void> {
    const missing = batch.map(([id]) => id).filter((id) => !this.cache.has(id));
    if (missing.length > 0) for (const chunk of await this.chunks.load(missing)) this.adopt(chunk);
    const writes = batch.flatMap(([id, queue]) => planWrite(this.cache.get(id), queue) ?? []);
    if (writes.length === 0) return;
    const matched = await this.chunks.swap(writes.map(({ swap }) => swap));
    if (matched === writes.length) {
      for (const write of writes) this.commit(write);
      return;
    }
    // At least one revision was stale: read all chunks to find out which.
    const stored = new Map<string, Chunk>();
    for (const chunk of await this.chunks.load(writes.map(({ swap }) => swap._id)))
      stored.set(chunk._id, chunk);
    for (const write of writes) this.commitOrRepeat(write, stored.get(write.swap._id));
  }

  private commit({ next, answer }: PlannedWrite): void {
    this.adopt(next);
    answer();
  }

  /** A write is recognised by its `writer`; changes that lost the race are planned again. */
  private commitOrRepeat(write: PlannedWrite, stored: Chunk | undefined): void {
    const { swap, pending } = write;
    if (stored) this.adopt(stored);
    else this.cache.delete(swap._id);
    if (stored?.progress.writer === swap.progress.writer) return this.commit(write);
    for (const change of pending) {
      change.conflicts += 1;
      if (change.conflicts > CONFLICTS_MAX)
        change.reject(new Error('the chunk is changed too often by other replicas'));
      else this.enqueue(swap._id, change);
    }
  }
}
