import { implement } from '@bmg/common/rpc';
import { RatesDefinition } from '@bmg/proto/messaging';
import type { Dependencies } from '../dependencies';
import { createRatesHandlers } from './handlers';

export const wireRates = (deps: Dependencies) => ({
  rpcs: [implement(RatesDefinition, createRatesHandlers(deps))],
});
