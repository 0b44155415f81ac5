// The rows to delete when a client is purged; see deploy/DATA.md.
import type { PurgeRow } from '@bmg/common/purge';

export const purgeRows: PurgeRow[] = [
  { collection: 'templates', of: 'account', filter: ({ waba_id }) => ({ waba_id }) },
];
