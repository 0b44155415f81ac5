// What of the service's database is a client's: see deploy/DATA.md.
import type { PurgeRow } from '@bmg/common/purge';

export const purgeRows: PurgeRow[] = [
  {
    collection: 'deliveries',
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id }),
  },
];
