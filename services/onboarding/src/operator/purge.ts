// The rows that a purge of a client deletes: see deploy/DATA.md. The counters on which bills are
// based stay; they contain no personal data.
import type { Db } from 'mongodb';
import type { ClientScope, FilterRow } from '@bmg/common/purge';
import { REQUESTS } from '../accounts/requests';
import { CLIENTS } from '../ground/clients';
import { CODE_EXCHANGES, type CodeExchange, SESSIONS } from '../connect/sign-up';
import { NUMBER_DAYS } from '../ground/number-days';
import { OPEN_REGISTRATIONS } from '../ground/open-registrations';
import { ONBOARDING_EVENTS } from '../connect/onboarding-log';

const exchangesOf = ({ partner_id, waba_id }: ClientScope, db: Db): Promise<CodeExchange[]> =>
  db
    .collection<CodeExchange>(CODE_EXCHANGES)
    .find({ partner_id, 'result.waba_id': waba_id })
    .toArray();

const rowsOfClient = (collection: string, more: object = {}): FilterRow => ({
  collection,
  of: 'client',
  filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id, ...more }),
});

export const purgeRows: FilterRow[] = [
  {
    collection: SESSIONS,
    of: 'client',
    // Found through the code exchange that consumed them, so they are deleted before it.
    filter: async (scope, db) => ({
      partner_id: scope.partner_id,
      exchange_id: { $in: (await exchangesOf(scope, db)).map(({ _id }) => _id) },
    }),
  },
  {
    collection: CODE_EXCHANGES,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, 'result.waba_id': waba_id }),
  },
  rowsOfClient(ONBOARDING_EVENTS),
  rowsOfClient(NUMBER_DAYS),
  rowsOfClient(REQUESTS),
  rowsOfClient(OPEN_REGISTRATIONS),
  rowsOfClient(CLIENTS, { status: 'deleted' }),
];
