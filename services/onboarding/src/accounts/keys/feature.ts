import { implement } from '@bmg/common/rpc';
import { KeysDefinition } from '@bmg/proto/keys';
import type { Feature } from '../../ground/feature';
import { createKeyHandlers, type KeyDependencies } from './handlers';

export const createKeys = (deps: KeyDependencies): Feature => ({
  rpcs: [implement(KeysDefinition, createKeyHandlers(deps))],
});
