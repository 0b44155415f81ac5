// All indexes of the service.
import type { Indexes } from '@bmg/common/mongo';
import { attemptIndexes, ATTEMPTS } from './attempts';
import {
  ENDPOINT_HEALTH,
  ENDPOINT_HOURS,
  endpointHealthIndexes,
  endpointHourIndexes,
} from './endpoint-health';
import { DELIVERIES, deliveryIndexes } from './deliveries';
import { replayIndexes, REPLAYS } from './replays';
import { EVENT_LOG, eventLogIndexes } from './event-log';
import { shadowIndexes, SHADOWS } from './shadows';

export const indexes: Indexes = {
  [DELIVERIES]: deliveryIndexes,
  [EVENT_LOG]: eventLogIndexes,
  [ATTEMPTS]: attemptIndexes,
  [REPLAYS]: replayIndexes,
  [ENDPOINT_HEALTH]: endpointHealthIndexes,
  [ENDPOINT_HOURS]: endpointHourIndexes,
  [SHADOWS]: shadowIndexes,
};
