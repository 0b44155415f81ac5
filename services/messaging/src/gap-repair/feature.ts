import type { Feature } from '@bmg/common/service';
import type { Dependencies } from '../dependencies';
import { createHistoryQuota } from './history-quota';
import { createLosses } from './losses';
import { applyOutages } from './outages';
import { createGapRepair } from './repair';

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
