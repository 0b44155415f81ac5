// The rows to delete when a client is purged; see deploy/DATA.md.
import { below, type FilterRow } from '@bmg/common/purge';
import { CONTACTS } from '../contacts/store';
import { DAILY_COUNTS } from '../analytics/store';
import { LEDGER_DAYS } from '../ledger/store/days';
import { LEDGER_LATE } from '../ledger/store/late';
import { MESSAGES } from '../messages/message-record';
import { REFUSED_TOKENS } from '../send/refused-tokens';
import { SEND_CLAIMS } from '../claims/store';

export const purgeRows: FilterRow[] = [
  {
    collection: MESSAGES,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id }),
  },
  {
    collection: DAILY_COUNTS,
    of: 'client',
    filter: ({ partner_id, waba_id }) => below(`${partner_id}/${waba_id}/`),
  },
  {
    collection: LEDGER_DAYS,
    of: 'client',
    filter: ({ partner_id, waba_id }) => below(`${partner_id}/${waba_id}/`),
  },
  {
    collection: LEDGER_LATE,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id }),
  },
  {
    collection: REFUSED_TOKENS,
    of: 'client',
    filter: ({ partner_id, waba_id }) => below(`${partner_id}/${waba_id}/`),
  },
  {
    collection: SEND_CLAIMS,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id }),
  },
  { collection: CONTACTS, of: 'account', filter: ({ waba_id }) => below(`${waba_id}/`) },
];
