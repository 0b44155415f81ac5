import { implement } from '@bmg/common/rpc';
import { AlertsDefinition } from '@bmg/proto/alerts';
import type { Feature } from '../../ground/feature';
import { createAlerts, type AlertDependencies } from './alerts';

export function createAlertsFeature(deps: AlertDependencies): Feature {
  const { handlers, poller, applyQuality } = createAlerts(deps);
  return {
    rpcs: [implement(AlertsDefinition, handlers)],
    components: [poller],
    consumers: { account: applyQuality },
  };
}
