import { implement } from '@bmg/common/rpc';
import { SettingsDefinition } from '@bmg/proto/settings';
import type { Dependencies } from '../../dependencies';
import { createDashboardHandlers } from './handlers';

export const wirePartners = (deps: Dependencies) => ({
  rpcs: [implement(SettingsDefinition, createDashboardHandlers(deps))],
  components: [
    {
      name: 'logo-agent',
      async start() {},
      stop: () => deps.agent.destroy(),
    },
  ],
});
