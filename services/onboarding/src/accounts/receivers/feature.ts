import { implement } from '@bmg/common/rpc';
import { EndpointRegistryDefinition } from '@bmg/proto/endpoints';
import type { Feature } from '../../ground/feature';
import { createReceiverHandlers, type ReceiverDependencies } from './handlers';

export const createReceivers = (deps: ReceiverDependencies): Feature => ({
  rpcs: [implement(EndpointRegistryDefinition, createReceiverHandlers(deps))],
});
