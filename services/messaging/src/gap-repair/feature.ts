import type { Feature } from '@bmg/common/service';
import type { Dependencies, Needs } from '../dependencies';
import { createHistoryQuota } from './history-quota';
import { createLosses } from './losses';
import { createGapRepair } from './repair';
import type { Received } from '@bmg/common/bus';
import type { Outage } from '@bmg/proto/stream';

export function gapRepair(shared: Dependencies): Feature {
  const { redis, config, now } = shared;
  const delay_ms = config.GAP_REPAIR_DELAY_MS;
  const losses = createLosses(redis, now);
  const quota = createHistoryQuota(redis, config.GAP_REPAIR_PER_MINUTE);
  const deps = { ...shared, quota, losses, delay_ms };
  return {
    consumers: {
      async status(batch) {
        for (const { message } of batch) {
          const { phone_number_id, statuses } = message;
          if (phone_number_id !== undefined) losses.count(phone_number_id, statuses);
        }
      },
      outage: applyOutages(deps),
    },
    workers: delay_ms > 0 ? [createGapRepair(deps)] : [],
  };
}

type OutageDependencies = Needs<{ overdue: 'expedite' }> &
  Pick<Dependencies, 'now' | 'log'> & { delay_ms: number };

/** Customers read most messages within a day. */
const LOOKBACK_MS = 86_400_000;
/** The upstream repeats webhooks, so most arrive soon after the outage without a repair. */
const SETTLE_MS = 300_000;

/**
 * Returns the handler of the topic `outage`: messages whose statuses may have fallen into an outage
 * of the ingress are repaired without waiting until they are overdue.
 */
export const applyOutages =
  ({ overdue, delay_ms, now, log }: OutageDependencies) =>
  async (batch: Received<Outage>[]): Promise<void> => {
    if (delay_ms === 0) return;
    for (const { message } of batch) {
      const sent = {
        from: new Date(message.from_ms - LOOKBACK_MS),
        to: new Date(message.to_ms + 1),
      };
      const at = new Date(now().getTime() + Math.min(SETTLE_MS, delay_ms));
      const expedited = await overdue.expedite(sent, at);
      log.info({ ...message, expedited }, 'checking messages after an ingress outage');
    }
  };
