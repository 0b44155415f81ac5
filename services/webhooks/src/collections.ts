// The collections of the service: all indexes, and the documents to delete when a client is purged
// (deploy/DATA.md).
import type { Indexes } from '@bmg/common/mongo';
import type { FilterRow, RewriteRow } from '@bmg/common/purge';
import { DELIVERIES, deliveryIndexes } from './delivery';
import {
  attemptIndexes,
  eventLogIndexes,
  eventLogPurgeRows,
  replayIndexes,
  type Packer,
} from './event-log';
import { healthIndexes } from './receivers';
import { shadowIndexes } from './shadows';

export const indexes: Indexes = {
  ...deliveryIndexes,
  ...eventLogIndexes,
  ...attemptIndexes,
  ...replayIndexes,
  ...healthIndexes,
  ...shadowIndexes,
};

export const purgeRows = (packer: Packer): Array<FilterRow | RewriteRow> => [
  {
    collection: DELIVERIES,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id }),
  },
  ...eventLogPurgeRows(packer),
];
