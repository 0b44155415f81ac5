import type { Feature } from '@bmg/common/service';
import type { DeliveryRole } from '../dependencies';
import { createFailureAlerts } from './failure-alerts';
import { createRecoveryHandlers } from './handlers';
import { createRequeueRuns } from './requeue-runs';

export function recovery(deps: DeliveryRole): Feature {
  const requeueRuns = createRequeueRuns(deps.redis, async (partner_id) => {
    const queued = await deps.deliveries.requeueAll(partner_id, deps.now());
    if (queued > 0) await deps.requeue.announce(partner_id);
    return queued;
  });
  return {
    rpcs: [createRecoveryHandlers({ ...deps, requeueRuns, reads: deps.eventLog.reads })],
    workers: [createFailureAlerts(deps)],
  };
}
