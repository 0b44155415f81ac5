// The usage record: counts calls and errors per partner and endpoint, and publishes them every
// second, numbered, so that a report that arrives twice counts once.
import { newId } from '@bmg/common/ids';
import { topics, type Bus, type Outgoing } from '@bmg/common/bus';
import { createPoller } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';
import { dayOf } from '@bmg/common/time';
import type { Usage, Usage_Row } from '@bmg/proto/stream';

export type Meter = ReturnType<typeof createMeter>;

const PUBLISH_EVERY_MS = 1_000;
/** Bounds the counts that accumulate while Kafka is down; further partners are not counted. */
const PARTNERS_MAX = 100_000;

/** The rows of each partner, by method and endpoint. */
type Counts = Map<string, Map<string, Usage_Row>>;

export function createMeter(bus: Bus, log: Logger) {
  const process = newId('gwp');
  let sequence = 0;
  let counts: Counts = new Map();
  /**
   * The reports whose publication has not been acknowledged. Kafka may have stored them all the
   * same, so they are published again unchanged, and later counts wait for the next report.
   */
  let reports: Outgoing<Usage>[] = [];
  const send = async (): Promise<void> => {
    await bus.publish(reports);
    reports = [];
  };
  const publish = async (): Promise<void> => {
    if (reports.length > 0) await send();
    if (counts.size === 0) return;
    reports = reportsOf(counts, process, (sequence += 1));
    counts = new Map();
    await send();
  };
  const poller = createPoller('usage', PUBLISH_EVERY_MS, publish, log);
  return {
    name: 'meter',
    start: poller.start,
    async stop(): Promise<void> {
      await poller.stop();
      await publish();
    },
    /** Counts one call; `failed` adds one error. */
    count(partner_id: string, method: string, endpoint: string, failed: boolean): void {
      let rows = counts.get(partner_id);
      if (!rows) {
        if (counts.size >= PARTNERS_MAX) return;
        counts.set(partner_id, (rows = new Map()));
      }
      const key = `${method} ${endpoint}`;
      const row = rows.get(key) ?? { method, endpoint, calls: 0, errors: 0 };
      rows.set(key, row);
      row.calls += 1;
      if (failed) row.errors += 1;
    },
  };
}

function reportsOf(counts: Counts, process: string, sequence: number): Outgoing<Usage>[] {
  const day = dayOf(new Date());
  return [...counts].map(([partner_id, rows]) => ({
    topic: topics.usage,
    key: partner_id,
    message: { id: newId('use'), partner_id, day, rows: [...rows.values()], process, sequence },
  }));
}
