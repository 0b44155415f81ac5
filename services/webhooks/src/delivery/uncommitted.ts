// Bounds the deliveries held only in memory (their offsets are uncommitted) and picks which to
// persist: those of receivers that do not keep up, so that they delay neither offsets nor other
// partners.
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
/** A receiver keeps up if it can take its whole backlog within this time; otherwise it is slow. */
const KEEPS_UP_S = 5;
/** A backlog must be this old before its receiver can be called slow. */
const MEASURED_AFTER_MS = 1_000;
/** A receiver that keeps up may have this much work in memory; above it the intake waits. */
const BACKLOG_S = 1;
const BACKLOG_MIN = 1_000;
/** Weight of the latest tick in the moving average of a receiver's rate. */
const LATEST_WEIGHT = 0.3;

interface PartnerBacklog {
  deliveries: Set<TrackedDelivery>;
  /** Epoch milliseconds since which the backlog has not been empty. */
  busy_since: number;
  delivered_in_tick: number;
  delivered_per_s: number;
}

export class Uncommitted {
  private readonly partners = new Map<string, PartnerBacklog>();
  private count = 0;
  private bytes = 0;

  get size(): number {
    return this.count;
  }

  add(delivery: TrackedDelivery): void {
    const { partner_id, arrived_at } = delivery;
    let partner = this.partners.get(partner_id);
    if (!partner) {
      partner = {
        deliveries: new Set(),
        busy_since: arrived_at,
        delivered_in_tick: 0,
        delivered_per_s: 0,
      };
      this.partners.set(partner_id, partner);
    }
    if (partner.deliveries.size === 0) partner.busy_since = arrived_at;
    partner.deliveries.add(delivery);
    this.count += 1;
    this.bytes += bytesOf(delivery);
  }

  /** The delivery is persisted or done. */
  remove(delivery: TrackedDelivery): void {
    if (!this.partners.get(delivery.partner_id)?.deliveries.delete(delivery)) return;
    this.count -= 1;
    this.bytes -= bytesOf(delivery);
  }

  /** Counts towards the rate of the partner's receiver. */
  recordDelivered(partner_id: string): void {
    const partner = this.partners.get(partner_id);
    if (partner) partner.delivered_in_tick += 1;
  }

  /** Must be called every TICK_MS: updates the receivers' rates. */
  tick(): void {
    for (const [partner_id, partner] of this.partners) {
      const latest = (partner.delivered_in_tick * 1_000) / TICK_MS;
      partner.delivered_per_s += (latest - partner.delivered_per_s) * LATEST_WEIGHT;
      partner.delivered_in_tick = 0;
      if (partner.deliveries.size === 0 && partner.delivered_per_s < 1) {
        this.partners.delete(partner_id);
      }
    }
  }

  /**
   * The deliveries that are too old, too many or blocked by a retry. `now` in epoch milliseconds.
   */
  dueForPersisting(
    now: number,
    isBlocked: (delivery: TrackedDelivery) => boolean,
  ): TrackedDelivery[] {
    const due: TrackedDelivery[] = [];
    for (const partner of this.partners.values()) {
      const is_measured = now - partner.busy_since > MEASURED_AFTER_MS;
      const is_slow = is_measured && !keepsUp(partner);
      const age_max_ms = is_slow ? SLOW_AGE_MAX_MS : AGE_MAX_MS;
      let index = 0;
      for (const delivery of partner.deliveries) {
        const is_old = now - delivery.arrived_at > age_max_ms;
        const is_too_many = is_slow && index >= SLOW_COUNT_MAX;
        if (is_old || is_too_many || isBlocked(delivery)) due.push(delivery);
        index += 1;
      }
    }
    return due;
  }

  /** True while the intake should wait: memory is full, or a fast receiver has enough to do. */
  isCrowded(): boolean {
    if (this.isFull()) return true;
    for (const partner of this.partners.values()) {
      const enough = Math.max(BACKLOG_MIN, partner.delivered_per_s * BACKLOG_S);
      if (partner.deliveries.size > enough && keepsUp(partner)) return true;
    }
    return false;
  }

  /** True while the intake must wait. */
  isFull(): boolean {
    return this.count > DELIVERIES_MAX || this.bytes > BYTES_MAX;
  }
}

const bytesOf = (delivery: TrackedDelivery): number =>
  (delivery.uncommitted?.message.body.length ?? 0) + OVERHEAD_BYTES;

const keepsUp = ({ deliveries, delivered_per_s }: PartnerBacklog): boolean =>
  delivered_per_s * KEEPS_UP_S >= deliveries.size;
