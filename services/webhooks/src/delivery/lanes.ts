// Decides which deliveries may be attempted now: one at a time per lane, a bounded number per
// receiver (its share) and in total. A partner's webhook URL is a receiver under the partner's ID, and
// each of its endpoints is one with a smaller share of its own. No I/O; the caller passes the time.
import { Lane, receiverOf, type LaneItem, type Partner } from './lane';
import { PartnerShares, type Feedback, type ShareUse } from './partner-share';
import { WakeSlots } from './wake-slots';

export class Lanes<I extends LaneItem> {
  private readonly items = new Map<string, I>();
  private readonly lanes = new Map<string, Lane<I>>();
  private readonly partners = new Map<string, Partner<I>>();
  private readonly shares: PartnerShares;
  private readonly waiting = new WakeSlots<I>();
  private total_in_flight = 0;

  /** Attempts in flight: at most `share_max` for one partner, `total_max` for all. */
  constructor(
    share_max: number,
    private readonly total_max: number,
  ) {
    this.shares = new PartnerShares(share_max);
  }

  get size(): number {
    return this.items.size;
  }

  get in_flight(): number {
    return this.total_in_flight;
  }

  get(event_id: string): I | undefined {
    return this.items.get(event_id);
  }

  values(): IterableIterator<I> {
    return this.items.values();
  }

  /** How many deliveries of the partner are in lanes. */
  countOf(partner_id: string): number {
    return this.partners.get(partner_id)?.items ?? 0;
  }

  /** Whether the partner has as many attempts in flight as it may, and whether it recently failed. */
  useOf(partner_id: string): ShareUse {
    const in_flight = this.partners.get(partner_id)?.in_flight ?? 0;
    return {
      is_full: in_flight >= this.shares.of(partner_id),
      is_reduced: this.shares.isReduced(partner_id),
    };
  }

  isInFlight(item: I): boolean {
    return this.lanes.get(item.lane)?.in_flight === item;
  }

  /** True if the item waits behind a delivery that is being retried. */
  isBlocked(item: I): boolean {
    return this.lanes.get(item.lane)?.isBlocked(item) ?? false;
  }

  add(item: I, now: number): void {
    this.items.set(item.event_id, item);
    let lane = this.lanes.get(item.lane);
    if (!lane) {
      lane = new Lane(item.lane, this.partnerOf(receiverOf(item)));
      this.lanes.set(item.lane, lane);
    }
    lane.partner.items += 1;
    lane.insert(item);
    this.schedule(lane, now);
  }

  /** Starts every delivery that may be attempted now; each ends with `complete` or `retryLater`. */
  startDue(now: number): I[] {
    for (const lane of this.waiting.takeDue(now)) this.schedule(lane, now);
    const started: I[] = [];
    const served: Partner<I>[] = [];
    for (const partner of this.partners.values()) {
      if (this.total_in_flight >= this.total_max) break;
      if (partner.ready.size === 0) continue;
      if (this.startDueOf(partner, now, started) > 0) served.push(partner);
    }
    if (this.total_in_flight < this.total_max) return started;
    // The total is used up: partners served now go last when there is room again.
    for (const partner of served) {
      this.partners.delete(partner.partner_id);
      this.partners.set(partner.partner_id, partner);
    }
    return started;
  }

  /** The delivery in flight is done and leaves. */
  complete(item: I, now: number, feedback: Feedback): void {
    const lane = this.endAttempt(item, feedback);
    lane.remove(item);
    this.uncount(item, lane.partner);
    this.schedule(lane, now);
  }

  /** The delivery in flight keeps its place in the lane until its next_attempt_at. */
  retryLater(item: I, now: number, feedback: Feedback): void {
    this.schedule(this.endAttempt(item, feedback), now);
  }

  /** Must follow every change of next_attempt_at of a delivery that is not in flight. */
  reschedule(item: I, now: number): void {
    const lane = this.lanes.get(item.lane);
    if (lane) this.schedule(lane, now);
  }

  /** Removes a delivery, unless it is in flight. */
  remove(event_id: string, now: number): I | undefined {
    const item = this.items.get(event_id);
    const lane = item && this.lanes.get(item.lane);
    return lane && this.removeFrom(lane, (one) => one === item, now)[0];
  }

  /** Removes the deliveries for which `unwanted` is true, except those in flight. */
  removeWhere(unwanted: (item: I) => boolean, now: number): I[] {
    return [...this.lanes.values()].flatMap((lane) => this.removeFrom(lane, unwanted, now));
  }

  /** Puts the lane into the state that its next delivery needs. Does nothing while in flight. */
  private schedule(lane: Lane<I>, now: number): void {
    if (lane.state === 'in_flight') return;
    const due_at = lane.dueAt();
    const is_due = due_at !== undefined && due_at <= now;
    // A ready lane keeps its place among the partner's ready lanes.
    if (is_due && lane.state === 'ready') return;
    if (lane.state === 'ready') lane.partner.ready.delete(lane);
    else if (lane.state === 'waiting') this.waiting.remove(lane);
    if (due_at === undefined) {
      lane.state = 'idle';
      this.lanes.delete(lane.key);
    } else if (is_due) {
      lane.state = 'ready';
      lane.partner.ready.add(lane);
    } else {
      lane.state = 'waiting';
      this.waiting.add(lane, due_at);
    }
  }

  /** Starts as many deliveries as the partner's share has room for; returns how many. */
  private startDueOf(partner: Partner<I>, now: number, started: I[]): number {
    const share = this.shares.of(partner.partner_id);
    const before = started.length;
    for (const lane of partner.ready) {
      if (partner.in_flight >= share || this.total_in_flight >= this.total_max) break;
      const item = lane.nextDue(now);
      if (!item) {
        this.schedule(lane, now);
        continue;
      }
      partner.ready.delete(lane);
      lane.state = 'in_flight';
      lane.in_flight = item;
      partner.in_flight += 1;
      this.total_in_flight += 1;
      started.push(item);
    }
    return started.length - before;
  }

  /** Takes the lane out of state `in_flight`; the caller schedules it. */
  private endAttempt(item: I, feedback: Feedback): Lane<I> {
    this.shares.record(receiverOf(item), feedback);
    const lane = this.lanes.get(item.lane) as Lane<I>;
    lane.state = 'idle';
    lane.in_flight = undefined;
    lane.partner.in_flight -= 1;
    this.total_in_flight -= 1;
    return lane;
  }

  private removeFrom(lane: Lane<I>, unwanted: (item: I) => boolean, now: number): I[] {
    const removed = lane.items.filter((item) => item !== lane.in_flight && unwanted(item));
    if (removed.length === 0) return removed;
    const leaving = new Set(removed);
    lane.items = lane.items.filter((item) => !leaving.has(item));
    for (const item of removed) this.uncount(item, lane.partner);
    // A delivery that a removed one blocked may be due now.
    this.schedule(lane, now);
    return removed;
  }

  private partnerOf(partner_id: string): Partner<I> {
    let partner = this.partners.get(partner_id);
    if (!partner) {
      partner = { partner_id, in_flight: 0, items: 0, ready: new Set() };
      this.partners.set(partner_id, partner);
    }
    return partner;
  }

  private uncount(item: I, partner: Partner<I>): void {
    this.items.delete(item.event_id);
    partner.items -= 1;
    if (partner.items === 0 && partner.in_flight === 0) this.partners.delete(partner.partner_id);
  }
}
