// Distinguishes a slow receiver from a busy process or machine. While this process is busy, every
// receiver seems slow: the delay of the event loop's timers shows our own part of that, and the
// response time of the quickest other receiver shows the part that all have in common.
import { LRUCache } from '@bmg/common/cache';
import type { ShareUse } from './receiver-limits';
import { isDestination } from './receiver-key';

interface Receiver {
  /** Epoch milliseconds at which the attempts in flight started, the oldest first. */
  in_flight: Map<object, number>;
  /** Moving average of the time from the start of an attempt to its end. */
  response_ms: number;
  /** Epoch milliseconds of the last delivery. */
  delivered_at: number;
}

/** A receiver that accepts nothing for this long, with an attempt in flight, makes no progress. */
const STALLED_MS = 1_000;
/** A destination has longer: its events may wait two seconds for others of their batch. */
const DESTINATION_STALLED_MS = 4_000;
/** A receiver that answers faster is not slow, whatever its backlog. */
const RESPONSE_MS = 20;
/** A receiver that answers this many times later than the quickest one is slow. */
const TIMES_QUICKEST = 4;
/** Fewer receivers do not show what they have in common. */
const COMPARED_MIN = 3;
/** An attempt waits for the event loop several times: connecting, writing, reading, recording. */
const LOOP_TURNS = 20;
const LATEST_WEIGHT = 0.2;
const COMPARED_MS = 1_000;
const PARTNERS_MAX = 50_000;

export class ReceiverSpeed {
  private readonly receivers = new LRUCache<string, Receiver>({ max: PARTNERS_MAX });
  private lag_ms = 0;
  /** Receivers that took a delivery in the current period of COMPARED_MS, and in the one before. */
  private active = new Set<Receiver>();
  private active_before = new Set<Receiver>();
  private period_since = 0;
  private quickest_ms = 0;

  /** To be called periodically: `late_ms` is by how much this process's timer ran late. */
  tick(late_ms: number, now: number): void {
    this.lag_ms += (Math.max(0, late_ms) - this.lag_ms) * LATEST_WEIGHT;
    if (now - this.period_since >= COMPARED_MS) {
      this.active_before = this.active;
      this.active = new Set();
      this.period_since = now;
    }
    const compared = Math.max(this.active_before.size, this.active.size);
    this.quickest_ms =
      compared < COMPARED_MIN ? 0 : Math.min(quickest(this.active_before), quickest(this.active));
  }

  started(partner_id: string, attempt: object, now: number): void {
    let receiver = this.receivers.get(partner_id);
    if (!receiver) {
      receiver = { in_flight: new Map(), response_ms: 0, delivered_at: -Infinity };
      this.receivers.set(partner_id, receiver);
    }
    receiver.in_flight.set(attempt, now);
  }

  ended(partner_id: string, attempt: object, now: number, is_delivered: boolean): void {
    const receiver = this.receivers.get(partner_id);
    const started = receiver?.in_flight.get(attempt);
    if (!receiver || started === undefined) return;
    receiver.in_flight.delete(attempt);
    receiver.response_ms += (now - started - receiver.response_ms) * LATEST_WEIGHT;
    if (!is_delivered) return;
    receiver.delivered_at = now;
    this.active.add(receiver);
  }

  /** False if an attempt has been in flight for long, and no other delivery was taken meanwhile. */
  progresses(partner_id: string, now: number): boolean {
    const receiver = this.receivers.get(partner_id);
    const [oldest] = receiver?.in_flight.values() ?? [];
    if (!receiver || oldest === undefined) return true;
    const stalled_ms = isDestination(partner_id) ? DESTINATION_STALLED_MS : STALLED_MS;
    return now - Math.max(oldest, receiver.delivered_at) <= stalled_ms + this.commonDelay();
  }

  /** True if the receiver, not this process, causes its backlog. */
  isSlow(partner_id: string, use: ShareUse, now: number): boolean {
    if (!this.progresses(partner_id, now)) return true;
    if (!use.is_full) return false;
    return use.is_reduced || this.responseOf(partner_id, now) > RESPONSE_MS + this.commonDelay();
  }

  private responseOf(partner_id: string, now: number): number {
    const receiver = this.receivers.get(partner_id);
    const [oldest = now] = receiver?.in_flight.values() ?? [];
    return Math.max(receiver?.response_ms ?? 0, now - oldest);
  }

  /** The delay that all receivers share, which is not this receiver's fault. */
  private commonDelay(): number {
    return LOOP_TURNS * this.lag_ms + TIMES_QUICKEST * this.quickest_ms;
  }
}

function quickest(receivers: Iterable<Receiver>): number {
  let lowest = Infinity;
  for (const { response_ms } of receivers) lowest = Math.min(lowest, response_ms);
  return lowest;
}
