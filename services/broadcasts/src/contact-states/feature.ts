import type { Feature } from '@bmg/common/service';
import type { Dependencies } from '../dependencies';
import { applyContactStatuses } from './status-events';

export const contactStates = ({ stateWriter }: Dependencies): Feature => ({
  consumers: { status: applyContactStatuses(stateWriter) },
  buffers: [stateWriter],
});
