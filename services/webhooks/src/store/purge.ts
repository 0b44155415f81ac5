// What of the service's database is a client's: see deploy/DATA.md.
import type { PurgeRow } from '@bmg/common/purge';
import { DELIVERIES } from './deliveries';

export const purgeRows: PurgeRow[] = [
  {
    collection: DELIVERIES,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id }),
  },
];
