// Decides which deliveries may be attempted now: one at a time per lane, a bounded number per
// receiver (its share) and in total. A partner's webhook URL is a receiver under the partner's ID,
// and each of its endpoints is one with a share of its own. Destinations have a total of their own,
// so that their batches take no place of a URL. No I/O; the caller passes the time.
import { Lane, receiverOf, WakeSlots, type LaneItem, type Partner, type Pool } from './lane';
import { DESTINATION_TIMES, PartnerShares, type Feedback, type ShareUse } from './receiver-limits';
import { isDestination } from './receiver-key';

export class Lanes<I extends LaneItem> {
  private readonly items = new Map<string, I>();
  private readonly lanes = new Map<string, Lane<I>>();
  private readonly urls: Pool<I>;
  private readonly destinations: Pool<I>;
  private readonly shares: PartnerShares;
  private readonly waiting = new WakeSlots<I>();

  /** The most attempts in flight of a partner and of all; destinations have several times that. */
  constructor(share_max: number, total_max: number) {
    this.shares = new PartnerShares(share_max);
    this.urls = { total_max, in_flight: 0, partners: new Map() };
    const times = DESTINATION_TIMES * total_max;
    this.destinations = { total_max: times, in_flight: 0, partners: new Map() };
  }

  get size(): number {
    return this.items.size;
  }

  get in_flight(): number {
    return this.urls.in_flight + this.destinations.in_flight;
  }

  get in_flight_at_urls(): number {
    return this.urls.in_flight;
  }

  get(event_id: string): I | undefined {
    return this.items.get(event_id);
  }

  values(): IterableIterator<I> {
    return this.items.values();
  }

  /** How many deliveries of the partner are in lanes. */
  countOf(partner_id: string): number {
    return this.poolOf(partner_id).partners.get(partner_id)?.items ?? 0;
  }

  /** The partner's use of its share: whether it is used up, and whether it failed lately. */
  useOf(partner_id: string): ShareUse {
    const in_flight = this.poolOf(partner_id).partners.get(partner_id)?.in_flight ?? 0;
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
    this.startDueIn(this.urls, now, started);
    this.startDueIn(this.destinations, now, started);
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

  private startDueIn(pool: Pool<I>, now: number, started: I[]): void {
    const served: Partner<I>[] = [];
    for (const partner of pool.partners.values()) {
      if (pool.in_flight >= pool.total_max) break;
      if (partner.ready.size === 0) continue;
      if (this.startDueOf(partner, now, started) > 0) served.push(partner);
    }
    if (pool.in_flight < pool.total_max) return;
    // The total is used up: partners served now go last when there is room again.
    for (const partner of served) {
      pool.partners.delete(partner.partner_id);
      pool.partners.set(partner.partner_id, partner);
    }
  }

  /** Starts as many deliveries as the partner's share has room for; returns how many. */
  private startDueOf(partner: Partner<I>, now: number, started: I[]): number {
    const share = this.shares.of(partner.partner_id);
    const { pool } = partner;
    const before = started.length;
    for (const lane of partner.ready) {
      if (partner.in_flight >= share || pool.in_flight >= pool.total_max) break;
      const item = lane.nextDue(now);
      if (!item) {
        this.schedule(lane, now);
        continue;
      }
      partner.ready.delete(lane);
      lane.state = 'in_flight';
      lane.in_flight = item;
      partner.in_flight += 1;
      pool.in_flight += 1;
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
    lane.partner.pool.in_flight -= 1;
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

  private poolOf(receiver: string): Pool<I> {
    return isDestination(receiver) ? this.destinations : this.urls;
  }

  private partnerOf(partner_id: string): Partner<I> {
    const pool = this.poolOf(partner_id);
    let partner = pool.partners.get(partner_id);
    if (!partner) {
      partner = { partner_id, pool, in_flight: 0, items: 0, ready: new Set() };
      pool.partners.set(partner_id, partner);
    }
    return partner;
  }

  private uncount(item: I, partner: Partner<I>): void {
    this.items.delete(item.event_id);
    partner.items -= 1;
    if (partner.items > 0 || partner.in_flight > 0) return;
    partner.pool.partners.delete(partner.partner_id);
  }
}
