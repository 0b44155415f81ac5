// Spaces the attempts of endpoints that have a maximum rate. Each replica keeps the part of the rate that
// belongs to its Kafka partitions, so that all together keep the rate. No I/O; the caller passes the time.
import { LRUCache } from '@bmg/common/cache';

/** An endpoint whose next free time is this far away causes its backlog itself. */
const LIMITING_MS = 1_000;
const RECEIVERS_MAX = 10_000;

export class Pace {
  /** By receiver: the next free time, in epoch milliseconds. */
  private readonly free_at = new LRUCache<string, number>({ max: RECEIVERS_MAX });

  /**
   * Reserves the next free time and returns it. `part` is the replica's part of the rate, above 0 and at
   * most 1.
   */
  reserve(receiver: string, max_per_second: number, part: number, now: number): number {
    const at = Math.max(now, this.free_at.get(receiver) ?? 0);
    this.free_at.set(receiver, at + 1_000 / (max_per_second * part));
    return at;
  }

  /** True if the receiver's rate, not this process, causes its backlog. */
  isLimiting(receiver: string, now: number): boolean {
    return (this.free_at.get(receiver) ?? 0) - now > LIMITING_MS;
  }
}
