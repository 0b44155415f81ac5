import { implementPart } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { WebhooksDefinition } from '@bmg/proto/webhooks';
import type { DeliveryRole } from '../dependencies';
import { sendTestEvent } from './check-receiver';
import { createReceiverHandlers } from './handlers';
import { createDisabling } from './health';

export function receivers(deps: DeliveryRole): Feature {
  const { announce } = deps.requeue;
  const { handlers, first_tests } = createReceiverHandlers({ ...deps, announce });
  return {
    rpcs: [handlers, implementPart(WebhooksDefinition, { sendTestEvent: sendTestEvent(deps) })],
    workers: [deps.healthRecorder, createDisabling(deps), first_tests],
  };
}
