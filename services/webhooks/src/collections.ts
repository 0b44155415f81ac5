// The collections of the service: all indexes, and the documents to delete when a client is purged
// (deploy/DATA.md).
import type { Indexes } from '@bmg/common/mongo';
import type { FilterRow, RewriteRow } from '@bmg/common/purge';
import { DELIVERIES, deliveryIndexes } from './delivery';
import {
  attemptIndexes,
  ATTEMPTS,
  EVENT_LOG,
  eventLogIndexes,
  eventLogPurgeRows,
  replayIndexes,
  REPLAYS,
  type Packer,
} from './event-log';
import {
  ENDPOINT_HEALTH,
  ENDPOINT_HOURS,
  endpointHealthIndexes,
  endpointHourIndexes,
} from './receivers';
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

export const purgeRows = (packer: Packer): Array<FilterRow | RewriteRow> => [
  {
    collection: DELIVERIES,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id }),
  },
  ...eventLogPurgeRows(packer),
];
