import type { Bus } from '@bmg/common/bus';
import { implement } from '@bmg/common/rpc';
import { EndpointRegistryDefinition } from '@bmg/proto/endpoints';
import type { Dependencies } from '../../dependencies';
import { createEndpointHandlers } from './handlers';

export const wireEndpoints = (deps: Dependencies, bus: Pick<Bus, 'publish'>) => ({
  rpcs: [implement(EndpointRegistryDefinition, createEndpointHandlers({ ...deps, bus }))],
});
