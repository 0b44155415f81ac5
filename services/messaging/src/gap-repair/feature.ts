import type { Component } from '@bmg/common/lifecycle';
import type { Config } from '../config';
import type { Dependencies, Engines } from '../dependencies';
import { createHistoryQuota } from './history-quota';
import { createLosses, type Losses } from './losses';
import { applyOutages } from './outages';
import { createGapRepair } from './repair';

export interface GapRepairFeature {
  losses: Losses;
  applyOutages: ReturnType<typeof applyOutages>;
  components: Component[];
}

export function wireGapRepair(
  shared: Dependencies,
  { bus, redis }: Engines,
  config: Config,
): GapRepairFeature {
  const delay_ms = config.GAP_REPAIR_DELAY_MS;
  const losses = createLosses(redis, shared.now);
  const quota = createHistoryQuota(redis, config.GAP_REPAIR_PER_MINUTE);
  const deps = { ...shared, bus, redis, quota, losses, delay_ms };
  return {
    losses,
    applyOutages: applyOutages(deps),
    components: delay_ms > 0 ? [createGapRepair(deps)] : [],
  };
}
