// Publishes backlog metrics and reschedules stored deliveries that no lane tracks.
import { metrics, type Logger } from '@bmg/common/telemetry';
import type { Lanes } from './lanes';
import { receiverOfRow, type TrackedDelivery } from './tracked-delivery';
import { TICK_MS } from './uncommitted';
import type { Deliveries, Overdue, WaitingDelivery } from './store';

export interface ObserverDependencies {
  deliveries: Deliveries;
  lanes: Lanes<TrackedDelivery>;
  log: Logger;
  trackRow(row: WaitingDelivery): void;
  /** The receiver has more rows than memory may schedule, so an untracked row is not lost. */
  overflows(receiver: string): boolean;
}

const METRICS_EVERY_TICKS = 5_000 / TICK_MS;
const SCAN_EVERY_TICKS = 30_000 / TICK_MS;
/** An untracked row that was due this long ago was missed: its requeue message was not received. */
const MISSED_AFTER_MS = 30_000;
const PAGE_MAX = 1_000;
/** The replica that has this partition counts. */
const COUNTING_PARTITION = 0;
/** Bounds the time series: only the partners that have waited longest get one each. */
const PARTNERS_SHOWN_MAX = 50;
/** A partner that has waited longer than this counts in `partners_waiting`. */
const LONG_WAIT_MS = 60_000;

export type Observer = ReturnType<typeof createObserver>;

export function createObserver(deps: ObserverDependencies) {
  const { deliveries, lanes, log, trackRow, overflows } = deps;
  let ticks = 0;
  let scanned_until: Overdue | undefined;

  /** The age of the oldest delivery, and by partner of the oldest without any attempt. */
  function publishAges(): void {
    const oldest_unattempted = new Map<string, number>();
    const now = Date.now();
    let waiting_since = now;
    for (const { partner_id, arrived_at, attempts } of lanes.values()) {
      waiting_since = Math.min(waiting_since, arrived_at);
      if (attempts > 0) continue;
      if (arrived_at < (oldest_unattempted.get(partner_id) ?? Infinity)) {
        oldest_unattempted.set(partner_id, arrived_at);
      }
    }
    metrics.oldest_waiting.set((now - waiting_since) / 1_000);
    const longest = [...oldest_unattempted].sort(([, a], [, b]) => a - b);
    metrics.partners_waiting.set(longest.filter(([, at]) => now - at >= LONG_WAIT_MS).length);
    metrics.oldest_unattempted.reset();
    for (const [partner_id, at] of longest.slice(0, PARTNERS_SHOWN_MAX)) {
      metrics.oldest_unattempted.set({ partner_id }, (now - at) / 1_000);
    }
  }
  /** A count reads the index of the whole backlog, so one replica publishes it for all. */
  async function publishCounts(partitions: number[]): Promise<void> {
    if (!partitions.includes(COUNTING_PARTITION)) {
      metrics.deliveries_stored.reset();
      return;
    }
    for (const [status, count] of Object.entries(await deliveries.counts())) {
      metrics.deliveries_stored.set({ status }, count);
    }
  }
  async function scanStore(partitions: number[]): Promise<void> {
    await publishCounts(partitions);
    const due = new Date(Date.now() - MISSED_AFTER_MS);
    const page = { after: scanned_until, limit: PAGE_MAX };
    const rows = await deliveries.overdue(partitions, due, page);
    // One page per scan: most overdue rows are tracked and wait for their turn.
    scanned_until = rows.length < PAGE_MAX ? undefined : rows.at(-1);
    for (const row of rows) {
      if (!lanes.get(row._id) && !overflows(receiverOfRow(row) ?? row.partner_id)) trackRow(row);
    }
  }
  return {
    /** Must be called every `passed` times TICK_MS with the partitions assigned to this process. */
    tick(partitions: number[], passed: number): void {
      const before = ticks;
      ticks += passed;
      const isDue = (every: number): boolean =>
        Math.floor(ticks / every) > Math.floor(before / every);
      if (isDue(METRICS_EVERY_TICKS)) publishAges();
      if (!isDue(SCAN_EVERY_TICKS)) return;
      scanStore(partitions).catch((error: unknown) =>
        log.warn({ err: error }, 'failed to scan the stored deliveries'),
      );
    },
  };
}
