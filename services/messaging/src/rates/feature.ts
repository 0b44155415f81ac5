import { implement } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { RatesDefinition } from '@bmg/proto/messaging';
import type { Dependencies } from '../dependencies';
import { createRatesHandlers } from './handlers';

export const rates = (deps: Dependencies): Feature => ({
  rpcs: [implement(RatesDefinition, createRatesHandlers(deps))],
});
