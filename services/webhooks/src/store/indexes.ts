// All indexes of the service.
import type { Indexes } from '@bmg/common/mongo';
import { DELIVERIES, deliveryIndexes } from './deliveries';

export const indexes: Indexes = { [DELIVERIES]: deliveryIndexes };
