// The limits of a receiver's attempts. No I/O; the caller passes the time.
// - Its share is the number that may be in flight. It grows by one with every success and halves
//   with every failure, so that a hung receiver takes few of the replica's attempts.
// - Its maximum rate, if it has one, spaces them. Each replica keeps the part of the rate that
//   belongs to its Kafka partitions, so that all together keep the rate.
import { LRUCache } from '@bmg/common/cache';
import { receiverOf, type LaneItem } from './lane';
import { isDestination, receiverOfKey } from './receiver-key';

/** The outcome of an attempt as it concerns the receiver; `none` if no POST was made. */
export type Feedback = 'success' | 'failure' | 'none';

export interface ShareUse {
  is_full: boolean;
  /** Failures keep the share below that of a new partner. */
  is_reduced: boolean;
}

/** Small, so that many new partners with hung receivers leave room for the others. */
const SHARE_INITIAL = 8;
const SHARE_MIN = 2;
/** Shares are kept while a partner has no deliveries, for this many partners. */
const SHARES_MAX = 50_000;
/**
 * An endpoint has this part of a partner's share: ten of them that hang take little more than the
 * partner's own share, and nothing from each other.
 */
const ENDPOINT_PART = 8;
/**
 * A destination stores events in batches, which are as large as its share: it has this many times a
 * partner's share, and starts with a batch of some.
 */
export const DESTINATION_TIMES = 4;
const DESTINATION_INITIAL = 32;

export class PartnerShares {
  private readonly shares = new LRUCache<string, number>({ max: SHARES_MAX });

  constructor(private readonly share_max: number) {}

  of(receiver: string): number {
    return this.shares.get(receiver) ?? this.initialOf(receiver);
  }

  /** True while failures keep the share below that of a new partner. */
  isReduced(receiver: string): boolean {
    return this.of(receiver) < this.initialOf(receiver);
  }

  private initialOf(receiver: string): number {
    const initial = isDestination(receiver) ? DESTINATION_INITIAL : SHARE_INITIAL;
    return Math.min(this.maxOf(receiver), initial);
  }

  private maxOf(receiver: string): number {
    if (receiverOfKey(receiver).endpoint_id === undefined) return this.share_max;
    if (isDestination(receiver)) return DESTINATION_TIMES * this.share_max;
    return Math.max(1, Math.floor(this.share_max / ENDPOINT_PART));
  }

  record(receiver: string, feedback: Feedback): void {
    if (feedback === 'none') return;
    const share = this.of(receiver);
    const share_max = this.maxOf(receiver);
    const next =
      feedback === 'success'
        ? Math.min(share_max, share + 1)
        : Math.min(share_max, Math.max(SHARE_MIN, Math.floor(share / 2)));
    if (next !== share) this.shares.set(receiver, next);
  }
}

/** A delivery with the time that is reserved for its next attempt, in epoch milliseconds. */
export type SpacedDelivery = Pick<LaneItem, 'partner_id' | 'receiver' | 'next_attempt_at'> & {
  paced_until: number | undefined;
};

/** An endpoint whose next free time is this far ahead causes its backlog itself. */
const LIMITING_MS = 1_000;
const RATES_MAX = 10_000;

export class MaxRate {
  /** The next free time of each receiver, in epoch milliseconds. */
  private readonly free_at = new LRUCache<string, number>({ max: RATES_MAX });

  /**
   * True if the delivery has to wait: it then has the time that is reserved for it as its next one.
   * `rate` is the replica's part of the maximum, in attempts a second.
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
