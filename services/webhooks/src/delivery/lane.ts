// One conversation of one partner: a queue in stream order with at most one attempt in flight.
// Holds the rules of which delivery may be attempted when. No I/O; the caller passes the time.
export interface LaneItem {
  /** Key of the delivery: the event's ID, and for an endpoint also the endpoint's. */
  readonly event_id: string;
  readonly partner_id: string;
  /** Key of the endpoint that gets it; absent for the partner's webhook URL. */
  readonly receiver?: string | undefined;
  /** Key of the lane: receiver and conversation. */
  readonly lane: string;
  readonly partition: number;
  /** Kafka offset within the partition: rows read back and messages redelivered sort by it. */
  readonly order: number;
  /** Epoch milliseconds. */
  readonly arrived_at: number;
  attempts: number;
  /** Epoch milliseconds; no attempt starts earlier. */
  next_attempt_at: number;
}

/**
 * Contract 13.4: a delivery that is being retried blocks the later ones of its conversation for
 * at most this long, counted from their arrival.
 */
export const HOLD_MS = 30_000;

/**
 * - `idle`: the lane is empty.
 * - `ready`: a delivery is due and starts as soon as the partner's share has room.
 * - `in_flight`: an attempt has started and not finished.
 * - `waiting`: the next delivery is due later: its retry delay has not passed, or it is a first
 *   attempt that is blocked by a retry.
 */
export type LaneState = 'idle' | 'ready' | 'in_flight' | 'waiting';

/** The receiver of a delivery: an endpoint, or the partner's webhook URL under the partner's ID. */
export const receiverOf = ({
  partner_id,
  receiver,
}: Pick<LaneItem, 'partner_id' | 'receiver'>): string => receiver ?? partner_id;

/** Receivers whose attempts have a bound together. */
export interface Pool<I extends LaneItem> {
  readonly total_max: number;
  in_flight: number;
  readonly partners: Map<string, Partner<I>>;
}

/** A receiver that has deliveries in lanes. */
export interface Partner<I extends LaneItem> {
  readonly partner_id: string;
  readonly pool: Pool<I>;
  in_flight: number;
  items: number;
  /** Lanes in state `ready`, in the order in which they became ready. */
  readonly ready: Set<Lane<I>>;
}

export class Lane<I extends LaneItem> {
  state: LaneState = 'idle';
  /** Set in state `in_flight`. */
  in_flight: I | undefined;
  /** Set in state `waiting`: the wake slot that holds the lane. */
  wake_slot: number | undefined;
  items: I[] = [];

  constructor(
    readonly key: string,
    readonly partner: Partner<I>,
  ) {}

  /** Usually appends; rows read back and messages redelivered by Kafka go to their place. */
  insert(item: I): void {
    let at = this.items.length;
    while (at > 0 && isBefore(item, this.items[at - 1] as I)) at -= 1;
    this.items.splice(at, 0, item);
  }

  remove(item: I): void {
    // The delivery that ends is usually the first, and removing that costs nothing.
    if (this.items[0] === item) this.items.shift();
    else this.items.splice(this.items.indexOf(item), 1);
  }

  /** The first delivery that may be attempted now. */
  nextDue(now: number): I | undefined {
    for (let index = 0; index < this.items.length; index += 1) {
      const item = this.items[index] as I;
      if (itemDueAt(item, index) <= now) return item;
    }
    return undefined;
  }

  /** When the next delivery may be attempted; undefined for an empty lane. */
  dueAt(): number | undefined {
    let earliest: number | undefined;
    for (let index = 0; index < this.items.length; index += 1) {
      const item = this.items[index] as I;
      const due_at = itemDueAt(item, index);
      if (earliest === undefined || due_at < earliest) earliest = due_at;
      // Behind a first attempt everything is due later, since deliveries are in order of arrival.
      if (item.attempts === 0) break;
    }
    return earliest;
  }

  /** True if the item waits behind a delivery that is being retried. */
  isBlocked(item: I): boolean {
    const [first] = this.items;
    return first !== undefined && first !== item && first.attempts > 0;
  }
}

const isBefore = (a: LaneItem, b: LaneItem): boolean =>
  a.partition === b.partition && a.order < b.order;

/** A first attempt waits for the deliveries before it, but no longer than the hold. */
const itemDueAt = (item: LaneItem, index: number): number =>
  item.attempts > 0 || index === 0
    ? item.next_attempt_at
    : Math.max(item.next_attempt_at, item.arrived_at + HOLD_MS);

const SLOT_MS = 100;
const NONE: readonly never[] = [];

/**
 * Lanes in state `waiting`, grouped by the time at which they are due. Times are rounded up to
 * slots, because retries count in seconds and a timer per lane would cost more than it gives.
 */
export class WakeSlots<I extends LaneItem> {
  private readonly slots = new Map<number, Set<Lane<I>>>();
  /** Slots up to this one have been woken. */
  private woken_until = 0;

  add(lane: Lane<I>, due_at: number): void {
    const slot = Math.ceil(due_at / SLOT_MS);
    lane.wake_slot = slot;
    const lanes = this.slots.get(slot);
    if (lanes) lanes.add(lane);
    else this.slots.set(slot, new Set([lane]));
  }

  remove(lane: Lane<I>): void {
    const slot = lane.wake_slot;
    if (slot === undefined) return;
    const lanes = this.slots.get(slot);
    lanes?.delete(lane);
    if (lanes?.size === 0) this.slots.delete(slot);
    lane.wake_slot = undefined;
  }

  /** Removes the lanes that are due and returns them. */
  takeDue(now: number): readonly Lane<I>[] {
    const until = Math.floor(now / SLOT_MS);
    if (until <= this.woken_until) return NONE;
    this.woken_until = until;
    const due: Lane<I>[] = [];
    // Few slots are in use, so walking the map is cheaper than walking the time that has passed.
    for (const [slot, lanes] of this.slots) {
      if (slot > until) continue;
      this.slots.delete(slot);
      for (const lane of lanes) {
        lane.wake_slot = undefined;
        due.push(lane);
      }
    }
    return due;
  }
}
