// How many attempts each receiver may have in flight: a partner's webhook URL, or one of its endpoints. A
// share grows by one with every success and halves with every failure, so that a hung receiver takes few
// of the replica's attempts.
import { LRUCache } from '@bmg/common/cache';
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
const PARTNERS_MAX = 50_000;
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
  private readonly shares = new LRUCache<string, number>({ max: PARTNERS_MAX });

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
