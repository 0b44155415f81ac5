// How many attempts each partner may have in flight. A share grows by one with every success and
// halves with every failure, so that a hung receiver takes few of the replica's attempts.
import { LRUCache } from '@bmg/common/cache';

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

export class PartnerShares {
  private readonly shares = new LRUCache<string, number>({ max: PARTNERS_MAX });

  constructor(private readonly share_max: number) {}

  of(partner_id: string): number {
    return this.shares.get(partner_id) ?? Math.min(this.share_max, SHARE_INITIAL);
  }

  /** True while failures keep the share below that of a new partner. */
  isReduced(partner_id: string): boolean {
    return this.of(partner_id) < Math.min(this.share_max, SHARE_INITIAL);
  }

  record(partner_id: string, feedback: Feedback): void {
    if (feedback === 'none') return;
    const share = this.of(partner_id);
    const next =
      feedback === 'success'
        ? Math.min(this.share_max, share + 1)
        : Math.min(this.share_max, Math.max(SHARE_MIN, Math.floor(share / 2)));
    if (next !== share) this.shares.set(partner_id, next);
  }
}
