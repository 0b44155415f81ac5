import type { Feature } from '@bmg/common/service';
import { createCanary } from '../canary';
import type { IngressRole } from '../dependencies';
import { createIngress } from './ingress';
import { createOutageWatch } from './outages';
import { createPaymentEvents } from './payment-events';

export function ingress(deps: IngressRole): Feature {
  const { config, payments, log } = deps;
  const outages = createOutageWatch(deps);
  const canary = createCanary(config, deps);
  const server = createIngress(config, {
    ...deps,
    payments: createPaymentEvents(payments, log),
    outages,
    canary: canary?.receive,
  });
  return { doors: [server, outages, ...(canary ? [canary.sender] : [])] };
}
