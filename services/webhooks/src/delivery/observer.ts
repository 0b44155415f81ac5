// Looks around now and then: what waits for whom, and rows that nobody schedules any more.
import { metrics, type Logger } from '@bmg/common/telemetry';
import type { Entry } from './entry';
import type { Lanes } from './lanes';
import { TICK_MS } from './uncommitted';
import type { Deliveries, Waiting } from '../store/deliveries';

export interface Observer {
  /** Called every TICK_MS. */
  tick(partitions: number[]): void;
}

export interface ObserverDependencies {
  deliveries: Deliveries;
  lanes: Lanes<Entry>;
  log: Logger;
  add(row: Waiting): void;
  /** More rows of this partner are in the store than in memory: they are not missed. */
  overflows(partner_id: string): boolean;
}

const AGE_EVERY_TICKS = 5_000 / TICK_MS;
const STORE_EVERY_TICKS = 30_000 / TICK_MS;
/** A row that was due this long ago and is not in memory was missed: news of it got lost. */
const MISSED_AFTER_MS = 30_000;
const PAGE_MAX = 1_000;
/** A time series for each partner would be too many: the worst are shown, and all that wait long counted. */
const SHOWN_MAX = 50;
const LONG_MS = 60_000;

export function createObserver(deps: ObserverDependencies): Observer {
  const { deliveries, lanes, log, add, overflows } = deps;
  let ticks = 0;
  let after = '';

  /** The alarm that users of such systems miss most: accepted but not attempted, by partner. */
  function ages(): void {
    const oldest = new Map<string, number>();
    const now = Date.now();
    let waiting_since = now;
    for (const { partner_id, arrived_at, attempts } of lanes.values()) {
      waiting_since = Math.min(waiting_since, arrived_at);
      if (attempts > 0) continue;
      if (arrived_at < (oldest.get(partner_id) ?? Infinity)) oldest.set(partner_id, arrived_at);
    }
    metrics.oldest_waiting.set((now - waiting_since) / 1_000);
    const longest = [...oldest].sort(([, a], [, b]) => a - b);
    metrics.partners_waiting.set(longest.filter(([, at]) => now - at >= LONG_MS).length);
    metrics.oldest_unattempted.reset();
    for (const [partner_id, at] of longest.slice(0, SHOWN_MAX)) {
      metrics.oldest_unattempted.set({ partner_id }, (now - at) / 1_000);
    }
  }
  async function store(partitions: number[]): Promise<void> {
    const { retrying, failed } = await deliveries.counts();
    metrics.deliveries_stored.set({ status: 'retrying' }, retrying);
    metrics.deliveries_stored.set({ status: 'failed' }, failed);
    const due = new Date(Date.now() - MISSED_AFTER_MS);
    const rows = await deliveries.overdue(partitions, due, { after, limit: PAGE_MAX });
    // Page by page over the rounds: most of what is overdue waits for its turn in memory.
    after = rows.length < PAGE_MAX ? '' : (rows.at(-1)?._id ?? '');
    for (const row of rows) {
      if (!lanes.has(row._id) && !overflows(row.partner_id)) add(row);
    }
  }
  return {
    tick(partitions) {
      ticks += 1;
      if (ticks % AGE_EVERY_TICKS === 0) ages();
      if (ticks % STORE_EVERY_TICKS !== 0) return;
      store(partitions).catch((error: unknown) =>
        log.warn({ err: error }, 'the store could not be looked through'),
      );
    },
  };
}
