// Chunks as they were last read or written; the least recently written ones are evicted. A stale entry is
// harmless: the conditional write fails, and the state writer reads the chunk again.
import type { Chunk } from '../store/types';

export interface ChunkCache {
  has(id: string): boolean;
  get(id: string): Chunk | undefined;
  set(chunk: Chunk): void;
  delete(id: string): void;
}

/** About 2 KiB each. */
const CHUNKS_MAX = 4_000;

export function createChunkCache(): ChunkCache {
  const chunks = new Map<string, Chunk>();
  return {
    has: (id) => chunks.has(id),
    get: (id) => chunks.get(id),
    set(chunk) {
      chunks.delete(chunk._id);
      chunks.set(chunk._id, chunk);
      if (chunks.size <= CHUNKS_MAX) return;
      const [oldest] = chunks.keys();
      if (oldest !== undefined) chunks.delete(oldest);
    },
    delete: (id) => void chunks.delete(id),
  };
}
