// All indexes of the service.
import type { Indexes } from '@bmg/common/mongo';
import { broadcastIndexes, BROADCASTS } from './broadcasts';

export const indexes: Indexes = { [BROADCASTS]: broadcastIndexes };
