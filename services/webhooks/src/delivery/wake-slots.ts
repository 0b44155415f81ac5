// Lanes in state `waiting`, grouped by the time at which they are due. Times are rounded up to
// slots, because retries count in seconds and a timer per lane would cost more than it gives.
import type { Lane, LaneItem } from './lane';

const SLOT_MS = 100;

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

const NONE: readonly never[] = [];
