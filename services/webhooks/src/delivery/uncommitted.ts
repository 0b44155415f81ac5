// Bounds the deliveries held only in memory (their offsets are uncommitted) and picks which to
// persist: those of receivers that do not keep up, so that they delay neither offsets nor other
// partners. A backlog caused by this process being busy is not persisted: it stays in Kafka.
import { receiverOf } from './lane';
import type { TrackedDelivery } from './tracked-delivery';

/** Period of `tick`. */
export const TICK_MS = 100;
/** Above either of these, over all partners, the intake waits. */
const DELIVERIES_MAX = 20_000;
const BYTES_MAX = 64 * 1024 * 1024;
/** Memory of a delivery beside its body. */
const OVERHEAD_BYTES = 500;
/** Deliveries of a slow receiver are persisted above this count or after this age. */
const SLOW_COUNT_MAX = 500;
const SLOW_AGE_MAX_MS = 1_000;
/** Deliveries of any receiver are persisted after this age. */
const AGE_MAX_MS = 10_000;
/** A backlog must be this old before its receiver can be called slow. */
const MEASURED_AFTER_MS = 1_000;
/** Receivers that keep up may together have this much work in memory; above it the intake waits. */
const BACKLOG_S = 1;
const BACKLOG_MIN = 1_000;
/** Weight of the latest tick in the moving average of the rate. */
const LATEST_WEIGHT = 0.3;

/** Why a delivery is persisted although no receiver refused it. */
export type StoreReason = 'slow_receiver' | 'old' | 'behind_retry';

interface PartnerBacklog {
  deliveries: Set<TrackedDelivery>;
  /** Epoch milliseconds since which the backlog has not been empty. */
  busy_since: number;
  is_slow: boolean;
}

export class Uncommitted {
  private readonly partners = new Map<string, PartnerBacklog>();
  private count = 0;
  private bytes = 0;
  private delivered_in_tick = 0;
  private delivered_per_s = 0;

  constructor(
    private readonly receivers: {
      /** True if the receiver, not this process, causes the backlog. */
      isSlow(receiver: string, now: number): boolean;
      /** False if an attempt is in flight and the receiver responds to none. */
      progresses(receiver: string, now: number): boolean;
    },
  ) {}

  get size(): number {
    return this.count;
  }

  add(delivery: TrackedDelivery): void {
    const { arrived_at } = delivery;
    const receiver = receiverOf(delivery);
    let partner = this.partners.get(receiver);
    if (!partner) {
      partner = { deliveries: new Set(), busy_since: arrived_at, is_slow: false };
      this.partners.set(receiver, partner);
    }
    if (partner.deliveries.size === 0) partner.busy_since = arrived_at;
    partner.deliveries.add(delivery);
    this.count += 1;
    this.bytes += bytesOf(delivery);
  }

  /** The delivery is persisted or done. */
  remove(delivery: TrackedDelivery): void {
    if (!this.partners.get(receiverOf(delivery))?.deliveries.delete(delivery)) return;
    this.count -= 1;
    this.bytes -= bytesOf(delivery);
  }

  recordDelivered(): void {
    this.delivered_in_tick += 1;
  }

  /** Must be called every TICK_MS: updates the rate, and which receivers are slow. */
  tick(now: number): void {
    const latest = (this.delivered_in_tick * 1_000) / TICK_MS;
    this.delivered_per_s += (latest - this.delivered_per_s) * LATEST_WEIGHT;
    this.delivered_in_tick = 0;
    for (const [partner_id, partner] of this.partners) {
      const { busy_since } = partner;
      if (partner.deliveries.size === 0) this.partners.delete(partner_id);
      partner.is_slow =
        now - busy_since > MEASURED_AFTER_MS && this.receivers.isSlow(partner_id, now);
    }
  }

  /** The deliveries that are too old, too many or blocked by a retry. */
  dueForPersisting(
    now: number,
    isBlocked: (delivery: TrackedDelivery) => boolean,
  ): Map<TrackedDelivery, StoreReason> {
    const due = new Map<TrackedDelivery, StoreReason>();
    for (const { deliveries, is_slow } of this.partners.values()) {
      const age_max_ms = is_slow ? SLOW_AGE_MAX_MS : AGE_MAX_MS;
      let index = 0;
      for (const delivery of deliveries) {
        const is_old = now - delivery.arrived_at > age_max_ms;
        const is_too_many = is_slow && index >= SLOW_COUNT_MAX;
        if (isBlocked(delivery)) due.set(delivery, 'behind_retry');
        else if (is_slow && (is_old || is_too_many)) due.set(delivery, 'slow_receiver');
        else if (is_old) due.set(delivery, 'old');
        index += 1;
      }
    }
    return due;
  }

  /** True while the intake should wait: memory is full, or receivers that keep up have enough. */
  isCrowded(now: number): boolean {
    return this.isFull() || this.isBehind(now);
  }

  /** True while the backlog is our own: more than the receivers that keep up get in a second. */
  private isBehind(now: number): boolean {
    const enough = Math.max(BACKLOG_MIN, this.delivered_per_s * BACKLOG_S);
    if (this.count <= enough) return false;
    let own = 0;
    for (const [partner_id, { deliveries, is_slow }] of this.partners) {
      if (!is_slow && this.receivers.progresses(partner_id, now)) own += deliveries.size;
    }
    return own > enough;
  }

  /** True while the intake must wait. */
  isFull(): boolean {
    return this.count > DELIVERIES_MAX || this.bytes > BYTES_MAX;
  }
}

const bytesOf = (delivery: TrackedDelivery): number =>
  (delivery.uncommitted?.message.body.length ?? 0) + OVERHEAD_BYTES;
