// Spaces the attempts of endpoints that have a maximum rate. Each replica keeps the part of the rate that
// belongs to its Kafka partitions, so that all together keep the rate. No I/O; the caller passes the time.
import { LRUCache } from '@bmg/common/cache';
import { receiverOf, type LaneItem } from './lane';

/** A delivery with the time that is reserved for its next attempt, in epoch milliseconds. */
export type SpacedDelivery = Pick<LaneItem, 'partner_id' | 'receiver' | 'next_attempt_at'> & {
  paced_until: number | undefined;
};

/** An endpoint whose next free time is this far ahead causes its backlog itself. */
const LIMITING_MS = 1_000;
const RECEIVERS_MAX = 10_000;

export class MaxRate {
  /** By receiver: the next free time, in epoch milliseconds. */
  private readonly free_at = new LRUCache<string, number>({ max: RECEIVERS_MAX });

  /**
   * True if the delivery has to wait: it then has the time that is reserved for it as its next one. `rate` is
   * the replica's part of the maximum, in attempts a second.
   */
  delays(delivery: SpacedDelivery, rate: number, now: number): boolean {
    const at = delivery.paced_until ?? this.reserve(receiverOf(delivery), rate, now);
    const waits = at > now;
    delivery.paced_until = waits ? at : undefined;
    if (waits) delivery.next_attempt_at = at;
    return waits;
  }

  /** The time of the receiver's next attempt, in epoch milliseconds: no other attempt has it. */
  reserve(receiver: string, rate: number, now: number): number {
    const at = Math.max(now, this.free_at.get(receiver) ?? 0);
    this.free_at.set(receiver, at + 1_000 / rate);
    return at;
  }

  /** True if the receiver's rate, not this process, causes its backlog. */
  isLimiting(receiver: string, now: number): boolean {
    return (this.free_at.get(receiver) ?? 0) - now > LIMITING_MS;
  }
}
