// Events that are in memory alone, so that their offsets wait: how many there may be, and which of them are
// to be put aside in the store because their receiver does not keep up.
import type { Entry } from './entry';

export interface Fresh {
  add(entry: Entry): void;
  /** The event is in the store or over. */
  remove(entry: Entry): void;
  /** The partner's receiver took one. */
  tookOne(partner_id: string): void;
  /** Called every TICK_MS: brings the partners' speed up to date. */
  tick(): void;
  /** What should be stored now rather than waited for. */
  toPutAside(now: number, isHeld: (entry: Entry) => boolean): Entry[];
  /** True while the intake should wait: memory is full, or a quick receiver has enough to do. */
  crowded(): boolean;
  /** True while nothing more may be taken in at all. */
  full(): boolean;
  readonly size: number;
}

export const TICK_MS = 100;
/** Above this in memory, of all partners, the intake waits. */
const FRESH_MAX = 20_000;
const FRESH_BYTES_MAX = 64 * 1024 * 1024;
/** A receiver that does not keep up has no more than this in memory. */
const OF_SLOW_MAX = 500;
/** An event of such a receiver that waits longer than this for its turn is stored, so that offsets move on. */
const LIFE_OF_SLOW_MS = 1_000;
/** A receiver keeps up if it can be through with all it has within this time. */
const KEEPS_UP_S = 5;
const LIFE_MS = 10_000;
/** A quick receiver is given as much as it takes in this time, at least QUICK_MIN; then the intake waits. */
const QUICK_S = 1;
const QUICK_MIN = 1_000;
/** How quick a receiver is cannot be told earlier than this. */
const JUDGED_AFTER_MS = 1_000;
/** Weight of the latest tick in the average. */
const LATEST = 0.3;
const ENTRY_BYTES = 500;

interface Partner {
  entries: Set<Entry>;
  /** Since when there has been something to do. */
  busy_since: number;
  took: number;
  per_second: number;
}

export function createFresh(): Fresh {
  const partners = new Map<string, Partner>();
  let size = 0;
  let bytes = 0;

  const bytesOf = (entry: Entry): number => (entry.fresh?.message.body.length ?? 0) + ENTRY_BYTES;
  const keepsUp = ({ entries, per_second }: Partner): boolean =>
    per_second * KEEPS_UP_S >= entries.size;
  return {
    get size() {
      return size;
    },
    add(entry) {
      let partner = partners.get(entry.partner_id);
      if (!partner) {
        partner = { entries: new Set(), busy_since: entry.arrived_at, took: 0, per_second: 0 };
        partners.set(entry.partner_id, partner);
      }
      if (partner.entries.size === 0) partner.busy_since = entry.arrived_at;
      partner.entries.add(entry);
      size += 1;
      bytes += bytesOf(entry);
    },
    remove(entry) {
      if (!partners.get(entry.partner_id)?.entries.delete(entry)) return;
      size -= 1;
      bytes -= bytesOf(entry);
    },
    tookOne(partner_id) {
      const partner = partners.get(partner_id);
      if (partner) partner.took += 1;
    },
    tick() {
      for (const [partner_id, partner] of partners) {
        const latest = (partner.took * 1_000) / TICK_MS;
        partner.per_second += (latest - partner.per_second) * LATEST;
        partner.took = 0;
        if (partner.entries.size === 0 && partner.per_second < 1) partners.delete(partner_id);
      }
    },
    toPutAside(now, isHeld) {
      const found: Entry[] = [];
      for (const partner of partners.values()) {
        const judged = now - partner.busy_since > JUDGED_AFTER_MS;
        const slow = judged && !keepsUp(partner);
        const life_ms = slow ? LIFE_OF_SLOW_MS : LIFE_MS;
        let index = 0;
        for (const entry of partner.entries) {
          const old = now - entry.arrived_at > life_ms;
          if (old || (slow && index >= OF_SLOW_MAX) || isHeld(entry)) found.push(entry);
          index += 1;
        }
      }
      return found;
    },
    crowded() {
      if (this.full()) return true;
      for (const partner of partners.values()) {
        const enough = Math.max(QUICK_MIN, partner.per_second * QUICK_S);
        if (partner.entries.size > enough && keepsUp(partner)) return true;
      }
      return false;
    },
    full: () => size > FRESH_MAX || bytes > FRESH_BYTES_MAX,
  };
}
