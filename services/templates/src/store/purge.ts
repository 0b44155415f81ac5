// The rows to delete when a client is purged; see deploy/DATA.md.
import type { FilterRow } from '@bmg/common/purge';
import { TEMPLATES } from './templates';

export const purgeRows: FilterRow[] = [
  { collection: TEMPLATES, of: 'account', filter: ({ waba_id }) => ({ waba_id }) },
];
