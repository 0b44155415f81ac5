import { gathered } from '@bmg/common/bus';
import { createPoller } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';
import type { Feature } from '../../ground/feature';
import { countCalls, countMessages } from './consumers';
import { createUsageHandlers, type UsageDependencies } from './handlers';

/**
 * A report of usage may lag by this much. Counting takes six commands and a write for each partner,
 * however much it counts.
 */
const COUNTS_APART_MS = 1_000;
/** Only a crash leaves counts pending: that is rare and not urgent. */
const PENDING_COUNTS_EVERY_MS = 30_000;

export function createUsage(deps: UsageDependencies & { log: Logger }): Feature & {
  handlers: ReturnType<typeof createUsageHandlers>;
} {
  const { messageUsage, now, log } = deps;
  const pendingCounts = createPoller(
    'message usage',
    PENDING_COUNTS_EVERY_MS,
    async () => (await messageUsage.addPendingCounts(now())) > 0,
    log,
  );
  return {
    handlers: createUsageHandlers(deps),
    components: [pendingCounts],
    consumers: {
      usage: gathered(COUNTS_APART_MS, countCalls(deps)),
      status: gathered(COUNTS_APART_MS, countMessages(deps)),
    },
  };
}
