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
/** The numbers of reports are needed for days: how soon they end does not matter. */
const FORGET_REPORTS_EVERY_MS = 6 * 3_600_000;

export function createUsage(deps: UsageDependencies & { log: Logger }): Feature & {
  handlers: ReturnType<typeof createUsageHandlers>;
} {
  const { endpointUsage, messageUsage, now, log } = deps;
  const pendingCounts = createPoller(
    'message usage',
    PENDING_COUNTS_EVERY_MS,
    async () => (await messageUsage.addPendingCounts(now())) > 0,
    log,
  );
  const reports = createPoller(
    'usage reports',
    FORGET_REPORTS_EVERY_MS,
    () => endpointUsage.forgetReports(now()),
    log,
  );
  return {
    handlers: createUsageHandlers(deps),
    components: [pendingCounts, reports],
    consumers: {
      usage: gathered(COUNTS_APART_MS, countCalls(deps)),
      status: gathered(COUNTS_APART_MS, countMessages(deps)),
    },
  };
}
