// All indexes of the service.
import type { Indexes } from '@bmg/common/mongo';
import { templateIndexes, TEMPLATES } from './templates';

export const indexes: Indexes = { [TEMPLATES]: templateIndexes };
