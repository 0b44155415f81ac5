import { implementPart } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { EndpointsDefinition } from '@bmg/proto/endpoints';
import type { DeliveryRole } from '../dependencies';
import { createShadowHandlers } from './handlers';
import { createLastDay } from './last-day';

export function shadows({ eventLog: { reader }, ...deps }: DeliveryRole): Feature {
  const lastDay = createLastDay({ ...deps, reader });
  return {
    rpcs: [implementPart(EndpointsDefinition, createShadowHandlers({ ...deps, reader, lastDay }))],
    workers: [deps.liveShadows, lastDay],
  };
}
