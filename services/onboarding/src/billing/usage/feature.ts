import { gathered } from '@bmg/common/bus';
import { createPoller, type Component } from '@bmg/common/lifecycle';
import type { Dependencies } from '../../dependencies';
import { countCalls, countMessages } from './consumers';
import { createUsageHandlers } from './handlers';

/**
 * A report of usage may lag by this much. Counting takes six commands and a write for each partner,
 * however much it counts.
 */
const COUNTS_APART_MS = 1_000;
/** Only a crash leaves counts pending: that is rare and not urgent. */
const PENDING_COUNTS_EVERY_MS = 30_000;

export interface UsageFeature {
  handlers: ReturnType<typeof createUsageHandlers>;
  countCalls: ReturnType<typeof countCalls>;
  countStatuses: ReturnType<typeof countMessages>;
  components: Component[];
}

export function wireUsage(deps: Dependencies): UsageFeature {
  const { messageUsage, now, log } = deps;
  const pendingCounts = createPoller(
    'message usage',
    PENDING_COUNTS_EVERY_MS,
    async () => (await messageUsage.addPendingCounts(now())) > 0,
    log,
  );
  return {
    handlers: createUsageHandlers(deps),
    countCalls: gathered(COUNTS_APART_MS, countCalls(deps)),
    countStatuses: gathered(COUNTS_APART_MS, countMessages(deps)),
    components: [pendingCounts],
  };
}
