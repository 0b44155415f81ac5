import type { Feature } from '../../ground/feature';
import { createClientHandlers, type ClientDependencies } from './handlers';
import { createRefreshPoller, type RefreshDependencies } from './refresh-poller';
import { applyStateEvents, type StateDependencies } from './state-events';
import { createTokenExpiryPoller, type TokenExpiryDependencies } from './token-expiry-poller';

type Needs = ClientDependencies &
  RefreshDependencies &
  Omit<StateDependencies, 'onRefreshDue'> &
  TokenExpiryDependencies;

export function createClientsFeature(deps: Needs): Feature & {
  handlers: ReturnType<typeof createClientHandlers>;
  checkTokens(this: void): void;
} {
  const refreshPoller = createRefreshPoller(deps);
  const tokenPoller = createTokenExpiryPoller(deps);
  return {
    handlers: createClientHandlers(deps),
    components: [refreshPoller, tokenPoller],
    consumers: {
      account: applyStateEvents({ ...deps, onRefreshDue: () => refreshPoller.wake() }),
    },
    checkTokens: () => tokenPoller.wake(),
  };
}
