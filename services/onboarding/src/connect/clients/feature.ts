import type { Component } from '@bmg/common/lifecycle';
import type { Dependencies } from '../../dependencies';
import { createClientHandlers } from './handlers';
import { createRefreshPoller } from './refresh-poller';
import { applyStateEvents } from './state-events';
import { createTokenExpiryPoller } from './token-expiry-poller';

export interface ClientsFeature {
  handlers: ReturnType<typeof createClientHandlers>;
  applyState: ReturnType<typeof applyStateEvents>;
  checkTokens(this: void): void;
  components: Component[];
}

export function wireClients(deps: Dependencies): ClientsFeature {
  const refreshPoller = createRefreshPoller(deps);
  const tokenPoller = createTokenExpiryPoller(deps);
  return {
    handlers: createClientHandlers(deps),
    applyState: applyStateEvents({ ...deps, onRefreshDue: () => refreshPoller.wake() }),
    checkTokens: () => tokenPoller.wake(),
    components: [refreshPoller, tokenPoller],
  };
}
