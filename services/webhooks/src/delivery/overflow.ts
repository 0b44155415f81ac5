// Receivers with more stored deliveries than memory may schedule: a partner's webhook URL or an
// endpoint. Their new deliveries go straight to the store, behind the older ones, and rows are read
// back in order as room is made, so that memory stays bounded however long a receiver is
// unreachable. Everything in memory may then wait for a distant retry, so one new delivery per
// PROBE_EVERY_MS is attempted at once; when the receiver takes one, the dispatcher makes the whole
// backlog due.
import { pause } from '@bmg/common/lifecycle';
import { metrics, type Logger } from '@bmg/common/telemetry';
import { receiverOf } from './lane';
import { receiverKey, receiverOfKey } from './receiver-key';
import { rowOf, type TrackedDelivery } from './tracked-delivery';
import type { Deliveries, WaitingDelivery } from './store';

export interface OverflowDependencies {
  deliveries: Deliveries;
  log: Logger;
  /** Aborted at shutdown: ends the retries of writes and reads. */
  signal: AbortSignal;
  countOf(receiver: string): number;
  trackRow(row: WaitingDelivery): void;
  releaseOffsets(delivery: TrackedDelivery): void;
}

/** Stored deliveries scheduled in memory for one partner, about 0.5 KB each. */
export const OF_PARTNER_MAX = 10_000;
/** Rows loaded for all partners together when partitions are assigned. */
const LOADED_MAX = 100_000;
const PARTNERS_MAX = 10_000;
const STORE_RETRY_MS = 500;
const PENDING_CHECK_MS = 10;
export const PROBE_EVERY_MS = 30_000;

interface OverflowingPartner {
  /** Writes of new deliveries in flight. */
  pending: number;
  /** Epoch milliseconds. */
  probed_at: number;
  /** The receiver has not taken a delivery since it last failed. */
  is_failing: boolean;
}

export class Overflow {
  private readonly partners = new Map<string, OverflowingPartner>();

  constructor(private readonly deps: OverflowDependencies) {}

  get partners_count(): number {
    return this.partners.size;
  }

  /** True while new deliveries of the partner go straight to the store. */
  has(receiver: string): boolean {
    return this.partners.has(receiver);
  }

  start(receiver: string): void {
    if (this.partners.has(receiver)) return;
    // A failing receiver is assumed, so that the first success expedites the backlog.
    this.partners.set(receiver, { pending: 0, probed_at: -Infinity, is_failing: true });
  }

  /** True if a new delivery is to be attempted at once, as a probe of the receiver. */
  takeProbe(receiver: string, now: number): boolean {
    const partner = this.partners.get(receiver);
    if (!partner || now - partner.probed_at < PROBE_EVERY_MS) return false;
    partner.probed_at = now;
    return true;
  }

  recordFailure(receiver: string): void {
    const partner = this.partners.get(receiver);
    if (partner) partner.is_failing = true;
  }

  /** True for the first success after a failure: the receiver has recovered. */
  recordSuccess(receiver: string): boolean {
    const partner = this.partners.get(receiver);
    if (!partner?.is_failing) return false;
    partner.is_failing = false;
    return true;
  }

  /** Stores a new delivery of an overflowing partner, then releases its offsets. */
  persist(delivery: TrackedDelivery): void {
    const partner = this.partners.get(receiverOf(delivery));
    if (!partner) throw new TypeError('the partner does not overflow');
    partner.pending += 1;
    delivery.persisting = true;
    void this.put(delivery).finally(() => (partner.pending -= 1));
  }

  /** Loads the rows that wait in these partitions, up to LOADED_MAX and OF_PARTNER_MAX. */
  async load(partitions: number[]): Promise<void> {
    const { deliveries, trackRow } = this.deps;
    const rows = await deliveries.waitingIn(partitions, LOADED_MAX);
    for (const row of rows) trackRow(row);
    if (rows.length < LOADED_MAX) return;
    for (const partner_id of await deliveries.partnersIn(partitions, PARTNERS_MAX)) {
      await this.refillAll(partner_id, partitions);
    }
  }

  /** Loads the oldest rows of each receiver of the partner. */
  async refillAll(partner_id: string, partitions: number[]): Promise<void> {
    for (const endpoint_id of await this.deps.deliveries.endpointsOf(partner_id)) {
      await this.refill(receiverKey({ partner_id, endpoint_id }), partitions);
    }
    await this.refill(partner_id, partitions);
  }

  /** Loads the oldest rows of the receiver, and ends its overflow if these were all. */
  async refill(receiver: string, partitions: number[]): Promise<void> {
    const { deliveries, signal, trackRow } = this.deps;
    const partner = this.partners.get(receiver);
    // The intake waits meanwhile and adds none: after the pending writes the store is complete.
    while (partner && partner.pending > 0 && !signal.aborted) await pause(PENDING_CHECK_MS, signal);
    const rows = await deliveries.waitingOf(receiverOfKey(receiver), partitions, OF_PARTNER_MAX);
    for (const row of rows) trackRow(row);
    if (rows.length < OF_PARTNER_MAX) this.partners.delete(receiver);
    else this.start(receiver);
  }

  /** A partner to refill: half of its memory is free. */
  nextWithRoom(): string | undefined {
    for (const receiver of this.partners.keys()) {
      if (this.deps.countOf(receiver) < OF_PARTNER_MAX / 2) return receiver;
    }
    return undefined;
  }

  private async put(delivery: TrackedDelivery): Promise<void> {
    const { deliveries, log, signal, releaseOffsets } = this.deps;
    const { uncommitted } = delivery;
    while (uncommitted && !signal.aborted) {
      try {
        await deliveries.put(rowOf(delivery, uncommitted));
        metrics.deliveries_persisted.inc({ reason: 'large_backlog' });
        return releaseOffsets(delivery);
      } catch (error) {
        log.warn({ err: error, event_id: delivery.event_id }, 'failed to persist delivery');
        await pause(STORE_RETRY_MS, signal);
      }
    }
  }
}
