import { gathered } from '@bmg/common/bus';
import { createPoller } from '@bmg/common/lifecycle';
import { implementPart } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { OnboardingDefinition } from '@bmg/proto/onboarding';
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
/** The numbers of reports are needed for days: how soon they end does not matter. */
const FORGET_REPORTS_EVERY_MS = 6 * 3_600_000;

export function usage(deps: Dependencies): Feature {
  const { endpointUsage, messageUsage, now, log } = deps;
  const addPending = async (): Promise<boolean> => (await messageUsage.addPendingCounts(now())) > 0;
  const forget = (): Promise<void> => endpointUsage.forgetReports(now());
  return {
    rpcs: [implementPart(OnboardingDefinition, createUsageHandlers(deps))],
    consumers: {
      usage: gathered(COUNTS_APART_MS, countCalls(deps)),
      status: gathered(COUNTS_APART_MS, countMessages(deps)),
    },
    workers: [
      createPoller('message usage', PENDING_COUNTS_EVERY_MS, addPending, log),
      createPoller('usage reports', FORGET_REPORTS_EVERY_MS, forget, log),
    ],
  };
}
