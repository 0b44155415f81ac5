// Transfers that share a bounded resource. When it is full, the slowest one makes room for a new one, if
// it is slow enough: ending one that moves well would only waste what it has moved.
import type { Logger } from '../telemetry';
import { createPool, type PoolOptions } from './pool';

export interface Transfer {
  moved(bytes: number): void;
  end(): void;
}

/** A transfer slower than this makes room. A file of 10 MB takes five minutes at this rate. */
export const EVICTED_BELOW_BYTES_PER_S = 32 * 1024;
/** A transfer is not evicted earlier, and its rate is measured over at least this time. */
export const EVICTION_GRACE_MS = 10_000;

interface Running {
  holder: string;
  evict: () => void;
  bytes: number;
  /** The rate is counted from `since`; `mark` replaces it once it is old enough. */
  since: Mark;
  mark: Mark;
}

interface Mark {
  at_ms: number;
  bytes: number;
}

export function createTransfers() {
  const running = new Set<Running>();
  const roll = (one: Running, at_ms: number): void => {
    if (at_ms - one.mark.at_ms < EVICTION_GRACE_MS) return;
    one.since = one.mark;
    one.mark = { at_ms, bytes: one.bytes };
  };
  const rateOf = (one: Running, now_ms: number): number => {
    roll(one, now_ms);
    const { at_ms, bytes } = one.since;
    const elapsed_ms = now_ms - at_ms;
    return elapsed_ms < EVICTION_GRACE_MS ? Infinity : ((one.bytes - bytes) * 1_000) / elapsed_ms;
  };
  return {
    /** `evict` ends the transfer. It releases the transfer's resources before it returns. */
    begin(holder: string, evict: () => void): Transfer {
      const start = { at_ms: performance.now(), bytes: 0 };
      const one: Running = { holder, evict, bytes: 0, since: start, mark: start };
      running.add(one);
      return {
        moved(bytes) {
          roll(one, performance.now());
          one.bytes += bytes;
        },
        end: () => void running.delete(one),
      };
    },
    /** Ends the slowest transfer of this holder, or of all. False if none is slow enough. */
    evictSlowest(holder?: string): boolean {
      const now_ms = performance.now();
      let slowest: Running | undefined;
      let lowest = EVICTED_BELOW_BYTES_PER_S;
      for (const one of running) {
        if (holder !== undefined && one.holder !== holder) continue;
        const rate = rateOf(one, now_ms);
        if (rate >= lowest) continue;
        slowest = one;
        lowest = rate;
      }
      if (!slowest) return false;
      running.delete(slowest);
      slowest.evict();
      return true;
    },
  };
}

export type TransferPool = ReturnType<typeof createTransferPool>;

/** A pool with a place for each transfer. */
export function createTransferPool(options: PoolOptions, log: Logger) {
  const transfers = createTransfers();
  const pool = createPool({ ...options, makeRoom: transfers.evictSlowest }, log);
  return {
    /**
     * Undefined when the pool or the holder's share is full of transfers that are fast enough.
     * `onEvicted` is called when another transfer takes the place of this one.
     */
    enter(holder: string, onEvicted: () => void): Transfer | undefined {
      if (!pool.take(holder)) return undefined;
      const { moved, end } = transfers.begin(holder, () => {
        leave();
        onEvicted();
      });
      let left = false;
      const leave = (): void => {
        if (left) return;
        left = true;
        end();
        pool.give(holder);
      };
      return { moved, end: leave };
    },
  };
}
