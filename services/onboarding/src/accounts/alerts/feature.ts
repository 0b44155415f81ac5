import { implement } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { AlertsDefinition } from '@bmg/proto/alerts';
import type { Dependencies } from '../../dependencies';
import { createAlerts } from './alerts';

export function alerts(deps: Dependencies): Feature {
  const { handlers, poller, applyQuality } = createAlerts(deps);
  return {
    rpcs: [implement(AlertsDefinition, handlers)],
    consumers: { account: applyQuality },
    workers: [poller],
  };
}
