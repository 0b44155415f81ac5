// Who may be sent what now. A lane is a conversation of a partner: one attempt at a time, in the order of
// the stream. A partner has a bounded share of attempts under way, which shrinks while its receiver fails
// and grows back as it answers. No I/O and no clock of its own.
import { LRUCache } from 'lru-cache';

export interface Item {
  readonly event_id: string;
  readonly partner_id: string;
  /** Partner and conversation: what stays in order. */
  readonly lane: string;
  readonly partition: number;
  /** Place within the partition: what was stored and what Kafka hands out again sort together by it. */
  readonly order: number;
  readonly arrived_at: number;
  attempts: number;
  /** Epoch milliseconds before which it is not tried. */
  next_attempt_at: number;
}

/** Decisions on order: an event being retried holds back later ones for this long at the most. */
export const HOLD_MS = 30_000;

/** What an attempt says about the receiver; `nothing` when it was not asked. */
export type Verdict = 'answers' | 'fails' | 'nothing';

interface Lane<I extends Item> {
  key: string;
  partner_id: string;
  items: I[];
  running: I | undefined;
  /** Where the clock wakes it; undefined while it is ready, running or empty. */
  slot: number | undefined;
}

interface Partner<I extends Item> {
  in_flight: number;
  items: number;
  /** In order of getting ready. */
  ready: Set<Lane<I>>;
}

export interface Lanes<I extends Item> {
  add(item: I, now: number): void;
  has(event_id: string): I | undefined;
  /** What may be started now; each is under way until `settle`. */
  take(now: number): I[];
  /** The attempt is over: `keep` leaves the item in its place for its next_attempt_at. */
  settle(item: I, keep: boolean, now: number, verdict?: Verdict): void;
  /** True when the item has to wait behind one that is being retried. */
  isHeld(item: I): boolean;
  isRunning(item: I): boolean;
  /** Puts the item's lane on the list again, after its next_attempt_at was changed. */
  touch(item: I, now: number): void;
  /** Forgets items for which `drop` is true, unless they are under way. */
  forget(drop: (item: I) => boolean, now: number): I[];
  /** As `forget`, for one. */
  forgetOne(event_id: string, now: number): I | undefined;
  values(): IterableIterator<I>;
  /** How many items the partner has here. */
  countOf(partner_id: string): number;
  readonly size: number;
  readonly in_flight: number;
}

/** Waking is this precise; retries count in seconds. */
const SLOT_MS = 100;
/** A partner that nothing is known of yet begins with this share, so that many new ones that hang leave room. */
const SHARE_AT_FIRST = 8;
const SHARE_AT_LEAST = 2;
const SHARES_MAX = 50_000;

export function createLanes<I extends Item>(share: number, total: number): Lanes<I> {
  const lanes = new Map<string, Lane<I>>();
  const partners = new Map<string, Partner<I>>();
  const shares = new LRUCache<string, number>({ max: SHARES_MAX });
  const items = new Map<string, I>();
  /** Lanes that wait for a moment, by slot of the clock. */
  const slots = new Map<number, Set<Lane<I>>>();
  let checked = 0;
  let in_flight = 0;

  const partnerOf = (partner_id: string): Partner<I> => {
    let partner = partners.get(partner_id);
    if (!partner) {
      partners.set(partner_id, (partner = { in_flight: 0, items: 0, ready: new Set() }));
    }
    return partner;
  };
  const shareOf = (partner_id: string): number =>
    shares.get(partner_id) ?? Math.min(share, SHARE_AT_FIRST);
  const judge = (partner_id: string, verdict: Verdict): void => {
    if (verdict === 'nothing') return;
    const now = shareOf(partner_id);
    const next =
      verdict === 'answers'
        ? Math.min(share, now + 1)
        : Math.min(share, Math.max(SHARE_AT_LEAST, Math.floor(now / 2)));
    if (next !== now) shares.set(partner_id, next);
  };
  const unslot = (lane: Lane<I>): void => {
    if (lane.slot === undefined) return;
    const set = slots.get(lane.slot);
    set?.delete(lane);
    if (set?.size === 0) slots.delete(lane.slot);
    lane.slot = undefined;
  };
  const list = (lane: Lane<I>, now: number): void => {
    if (lane.running) return;
    unslot(lane);
    const at = readyAt(lane.items);
    if (at === undefined) return;
    if (at <= now) {
      partnerOf(lane.partner_id).ready.add(lane);
      return;
    }
    lane.slot = Math.ceil(at / SLOT_MS);
    const set = slots.get(lane.slot);
    if (set) set.add(lane);
    else slots.set(lane.slot, new Set([lane]));
  };
  const wake = (now: number): void => {
    const until = Math.floor(now / SLOT_MS);
    if (until <= checked) return;
    // Few slots are in use as a rule: walking the map beats walking the time that has passed.
    for (const [slot, set] of slots) {
      if (slot > until) continue;
      slots.delete(slot);
      for (const lane of set) {
        lane.slot = undefined;
        list(lane, now);
      }
    }
    checked = until;
  };
  const drop = (lane: Lane<I>): void => {
    if (lane.items.length > 0 || lane.running) return;
    unslot(lane);
    partners.get(lane.partner_id)?.ready.delete(lane);
    lanes.delete(lane.key);
  };
  const uncount = (item: I): void => {
    items.delete(item.event_id);
    const partner = partnerOf(item.partner_id);
    partner.items -= 1;
    if (partner.items === 0 && partner.in_flight === 0) partners.delete(item.partner_id);
  };
  const forgetIn = (lane: Lane<I>, unwanted: (item: I) => boolean, now: number): I[] => {
    const gone = lane.items.filter((item) => item !== lane.running && unwanted(item));
    if (gone.length === 0) return gone;
    const leaving = new Set(gone);
    lane.items = lane.items.filter((item) => !leaving.has(item));
    for (const item of gone) uncount(item);
    // What waited behind a forgotten one may be due now.
    list(lane, now);
    drop(lane);
    return gone;
  };
  /** Starts what the partner may have under way; answers how many. */
  const takeOf = (partner_id: string, partner: Partner<I>, now: number, taken: I[]): number => {
    const limit = shareOf(partner_id);
    const before = taken.length;
    for (const lane of partner.ready) {
      if (partner.in_flight >= limit || in_flight >= total) break;
      partner.ready.delete(lane);
      const item = nextOf(lane.items, now);
      if (!item) {
        list(lane, now);
        continue;
      }
      lane.running = item;
      partner.in_flight += 1;
      in_flight += 1;
      taken.push(item);
    }
    return taken.length - before;
  };
  return {
    get size() {
      return items.size;
    },
    get in_flight() {
      return in_flight;
    },
    has: (event_id) => items.get(event_id),
    values: () => items.values(),
    countOf: (partner_id) => partners.get(partner_id)?.items ?? 0,
    isRunning: (item) => lanes.get(item.lane)?.running === item,
    add(item, now) {
      items.set(item.event_id, item);
      partnerOf(item.partner_id).items += 1;
      let lane = lanes.get(item.lane);
      if (!lane) {
        const { lane: key, partner_id } = item;
        lane = { key, partner_id, items: [], running: undefined, slot: undefined };
        lanes.set(key, lane);
      }
      insert(lane.items, item);
      list(lane, now);
    },
    take(now) {
      wake(now);
      const taken: I[] = [];
      const served: string[] = [];
      for (const [partner_id, partner] of partners) {
        if (in_flight >= total) break;
        if (partner.ready.size === 0) continue;
        if (takeOf(partner_id, partner, now, taken) > 0) served.push(partner_id);
      }
      if (in_flight < total) return taken;
      // All is in use: whoever was served now comes last when there is room again.
      for (const partner_id of served) {
        const partner = partnerOf(partner_id);
        partners.delete(partner_id);
        partners.set(partner_id, partner);
      }
      return taken;
    },
    settle(item, keep, now, verdict = 'nothing') {
      judge(item.partner_id, verdict);
      const lane = lanes.get(item.lane);
      partnerOf(item.partner_id).in_flight -= 1;
      in_flight -= 1;
      if (!keep) uncount(item);
      if (!lane) return;
      lane.running = undefined;
      // As a rule the first, which costs nothing to take away.
      if (!keep && lane.items[0] === item) lane.items.shift();
      else if (!keep) lane.items.splice(lane.items.indexOf(item), 1);
      list(lane, now);
      drop(lane);
    },
    isHeld(item) {
      const [first] = lanes.get(item.lane)?.items ?? [];
      return first !== undefined && first !== item && first.attempts > 0;
    },
    touch(item, now) {
      const lane = lanes.get(item.lane);
      if (lane) list(lane, now);
    },
    forget(unwanted, now) {
      return [...lanes.values()].flatMap((lane) => forgetIn(lane, unwanted, now));
    },
    forgetOne(event_id, now) {
      const item = items.get(event_id);
      const lane = item && lanes.get(item.lane);
      return lane && forgetIn(lane, (one) => one === item, now)[0];
    },
  };
}

/** As a rule at the end; what comes late (stored rows, a message handed out again) goes to its place. */
function insert<I extends Item>(items: I[], item: I): void {
  let at = items.length;
  while (at > 0 && isBefore(item, items[at - 1] as I)) at -= 1;
  items.splice(at, 0, item);
}

const isBefore = (a: Item, b: Item): boolean => a.partition === b.partition && a.order < b.order;

/** The first item of a lane that may be tried now. */
function nextOf<I extends Item>(items: readonly I[], now: number): I | undefined {
  return items.find((item, index) => itemReadyAt(item, index) <= now);
}

/** When the lane's next item may be tried; undefined for an empty lane. */
function readyAt(items: readonly Item[]): number | undefined {
  let earliest: number | undefined;
  for (const [index, item] of items.entries()) {
    const at = itemReadyAt(item, index);
    if (earliest === undefined || at < earliest) earliest = at;
    // Behind one that was not tried yet everything is later: the order of arrival holds.
    if (item.attempts === 0) break;
  }
  return earliest;
}

/** One that was not tried yet waits for those before it, but no longer than the hold. */
const itemReadyAt = (item: Item, index: number): number =>
  item.attempts > 0 || index === 0
    ? item.next_attempt_at
    : Math.max(item.next_attempt_at, item.arrived_at + HOLD_MS);
