import type { Feature } from '@bmg/common/service';
import type { Dependencies } from '../dependencies';

export const templateStates = ({ states }: Dependencies): Feature => ({
  consumers: { template: (batch) => states.apply(batch) },
});
