// The rows to delete when a client is purged; see deploy/DATA.md.
import type { PurgeRow } from '@bmg/common/purge';
import { TEMPLATES } from './templates';

export const purgeRows: PurgeRow[] = [
  { collection: TEMPLATES, of: 'account', filter: ({ waba_id }) => ({ waba_id }) },
];
