// All indexes of the service.
import type { Indexes } from '@bmg/common/mongo';
import { attemptIndexes, ATTEMPTS } from './event-log/store/attempts';
import {
  ENDPOINT_HEALTH,
  ENDPOINT_HOURS,
  endpointHealthIndexes,
  endpointHourIndexes,
} from './receivers/store';
import { DELIVERIES, deliveryIndexes } from './delivery/store';
import { replayIndexes, REPLAYS } from './event-log/store/replays';
import { EVENT_LOG, eventLogIndexes } from './event-log/store/buckets';
import { shadowIndexes, SHADOWS } from './shadows/store';

export const indexes: Indexes = {
  [DELIVERIES]: deliveryIndexes,
  [EVENT_LOG]: eventLogIndexes,
  [ATTEMPTS]: attemptIndexes,
  [REPLAYS]: replayIndexes,
  [ENDPOINT_HEALTH]: endpointHealthIndexes,
  [ENDPOINT_HOURS]: endpointHourIndexes,
  [SHADOWS]: shadowIndexes,
};
