// Partners that have more waiting than is kept in memory: what comes new for them goes to the store at once,
// and the oldest rows are read back in order as room is made. Memory stays bounded however long a receiver
// is away. All that is in memory may then wait for a far attempt, so that a new event is let through now and
// then: once the receiver takes one, what waits is due.
import { pause } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';
import { rowOf, type Entry } from './entry';
import type { Deliveries, Waiting } from '../store/deliveries';

export interface Overflow {
  /** True while new events of the partner go to the store, behind those that are there. */
  has(partner_id: string): boolean;
  begin(partner_id: string): void;
  /** True for a new event that is to be tried at once, to see whether the receiver is back. */
  probes(partner_id: string, now: number): boolean;
  /** The receiver refused an attempt, or did not answer. */
  refused(partner_id: string): void;
  /** The receiver took one: true when it is the first since it refused, and more is in the store. */
  isBack(partner_id: string): boolean;
  /** Stores a new event; its offsets are settled once that is done. */
  store(entry: Entry): void;
  /** The rows that wait in these partitions, as far as memory goes. */
  load(partitions: number[]): Promise<void>;
  /** The oldest rows of the partner; ends its overflow when these were all. */
  refill(partner_id: string, partitions: number[]): Promise<void>;
  /** A partner that has room again. */
  next(): string | undefined;
}

export interface OverflowDependencies {
  deliveries: Deliveries;
  log: Logger;
  signal: AbortSignal;
  countOf(partner_id: string): number;
  add(row: Waiting): void;
  letGo(entry: Entry): void;
}

/** Stored events of a partner whose place in the order is kept in memory, about 0.5 KB each. */
export const OF_PARTNER_MAX = 10_000;
/** As many when a process starts, of all partners together. */
const LOADED_MAX = 100_000;
const PARTNERS_MAX = 10_000;
const STORE_AGAIN_MS = 500;
const PENDING_CHECK_MS = 10;
export const PROBE_EVERY_MS = 30_000;

interface State {
  /** Puts under way. */
  pending: number;
  probed_at: number;
  away: boolean;
}

const begun = (): State => ({ pending: 0, probed_at: -Infinity, away: true });

export function createOverflow(deps: OverflowDependencies): Overflow {
  const { deliveries, log, signal } = deps;
  /** Partners with more rows than are in memory. */
  const partners = new Map<string, State>();

  async function put(entry: Entry): Promise<void> {
    const { fresh } = entry;
    while (fresh && !signal.aborted) {
      try {
        await deliveries.put(rowOf(entry, fresh));
        return deps.letGo(entry);
      } catch (error) {
        log.warn({ err: error, event_id: entry.event_id }, 'an event could not be put aside yet');
        await pause(STORE_AGAIN_MS, signal);
      }
    }
  }
  const refill: Overflow['refill'] = async (partner_id, partitions) => {
    const state = partners.get(partner_id);
    // The intake waits meanwhile, so that none is added: afterwards the store is all there is.
    while (state && state.pending > 0 && !signal.aborted) await pause(PENDING_CHECK_MS, signal);
    const rows = await deliveries.waitingOf(partner_id, partitions, OF_PARTNER_MAX);
    for (const row of rows) deps.add(row);
    if (rows.length < OF_PARTNER_MAX) partners.delete(partner_id);
    else if (!state) partners.set(partner_id, begun());
  };
  return {
    has: (partner_id) => partners.has(partner_id),
    begin(partner_id) {
      if (!partners.has(partner_id)) partners.set(partner_id, begun());
    },
    probes(partner_id, now) {
      const state = partners.get(partner_id);
      if (!state || now - state.probed_at < PROBE_EVERY_MS) return false;
      state.probed_at = now;
      return true;
    },
    refused(partner_id) {
      const state = partners.get(partner_id);
      if (state) state.away = true;
    },
    isBack(partner_id) {
      const state = partners.get(partner_id);
      if (!state?.away) return false;
      state.away = false;
      return true;
    },
    store(entry) {
      const state = partners.get(entry.partner_id);
      if (!state) throw new TypeError('the partner does not overflow');
      state.pending += 1;
      entry.storing = true;
      void put(entry).finally(() => (state.pending -= 1));
    },
    async load(partitions) {
      const rows = await deliveries.waitingIn(partitions, LOADED_MAX);
      for (const row of rows) deps.add(row);
      if (rows.length < LOADED_MAX) return;
      for (const partner_id of await deliveries.partnersIn(partitions, PARTNERS_MAX)) {
        await refill(partner_id, partitions);
      }
    },
    refill,
    next() {
      for (const partner_id of partners.keys()) {
        if (deps.countOf(partner_id) < OF_PARTNER_MAX / 2) return partner_id;
      }
      return undefined;
    },
  };
}
