import { implement } from '@bmg/common/rpc';
import { SettingsDefinition } from '@bmg/proto/settings';
import type { Feature } from '../../ground/feature';
import { createDashboardHandlers, type DashboardDependencies } from './handlers';

export const createPartnerSettings = (deps: DashboardDependencies): Feature => ({
  rpcs: [implement(SettingsDefinition, createDashboardHandlers(deps))],
  components: [{ name: 'logo-agent', async start() {}, stop: () => deps.agent.destroy() }],
});
