// The rows to delete when a client is purged; see deploy/DATA.md.
import { below, type PurgeRow } from '@bmg/common/purge';

export const purgeRows: PurgeRow[] = [
  {
    collection: 'messages',
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id }),
  },
  {
    collection: 'daily_counts',
    of: 'client',
    filter: ({ partner_id, waba_id }) => below(`${partner_id}/${waba_id}/`),
  },
  { collection: 'contacts', of: 'account', filter: ({ waba_id }) => below(`${waba_id}/`) },
];
