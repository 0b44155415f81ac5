import { implementPart } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { OnboardingDefinition } from '@bmg/proto/onboarding';
import type { Dependencies } from '../../dependencies';
import { createClientHandlers } from './handlers';
import { createRefreshPoller } from './refresh-poller';
import { applyStateEvents } from './state-events';

export function clients(deps: Dependencies): Feature {
  const refreshPoller = createRefreshPoller(deps);
  return {
    rpcs: [implementPart(OnboardingDefinition, createClientHandlers(deps))],
    consumers: { account: applyStateEvents({ ...deps, onRefreshDue: refreshPoller.wake }) },
    workers: [refreshPoller, deps.tokenExpiry],
  };
}
