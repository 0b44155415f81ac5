// The usage record: counts calls and errors per partner and endpoint, and publishes them every
// second.
import { newId } from '@bmg/common/ids';
import { topics, type Bus } from '@bmg/common/bus';
import { createPoller, type Component } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';

export interface Meter extends Component {
  /** Counts one call; `failed` adds one error. */
  count(partner_id: string, endpoint: string, failed: boolean): void;
}

const PUBLISH_EVERY_MS = 1_000;
/**
 * Bounds the memory while Kafka is down and counts accumulate; calls of further partners are not
 * counted.
 */
const PARTNERS_MAX = 100_000;

interface Row {
  calls: number;
  errors: number;
}

export function createMeter(bus: Bus, log: Logger): Meter {
  let counts = new Map<string, Map<string, Row>>();
  const publish = async (): Promise<void> => {
    if (counts.size === 0) return;
    const taken = counts;
    counts = new Map();
    const day = new Date().toISOString().slice(0, 10);
    try {
      await bus.publish(
        [...taken].map(([partner_id, rows]) => ({
          topic: topics.usage,
          key: partner_id,
          message: {
            id: newId('use'),
            partner_id,
            day,
            rows: [...rows].map(([endpoint, row]) => ({ endpoint, ...row })),
          },
        })),
      );
    } catch (error) {
      // Published with the next counts.
      for (const [partner_id, rows] of taken) {
        for (const [endpoint, row] of rows) add(partner_id, endpoint, row);
      }
      throw error;
    }
  };
  const add = (partner_id: string, endpoint: string, { calls, errors }: Row): void => {
    let rows = counts.get(partner_id);
    if (!rows) {
      if (counts.size >= PARTNERS_MAX) return;
      counts.set(partner_id, (rows = new Map()));
    }
    const row = rows.get(endpoint);
    if (row) {
      row.calls += calls;
      row.errors += errors;
    } else rows.set(endpoint, { calls, errors });
  };
  const poller = createPoller('usage', PUBLISH_EVERY_MS, publish, log);
  return {
    name: 'meter',
    start: poller.start,
    async stop() {
      await poller.stop();
      await publish();
    },
    count: (partner_id, endpoint, failed) =>
      add(partner_id, endpoint, { calls: 1, errors: failed ? 1 : 0 }),
  };
}
