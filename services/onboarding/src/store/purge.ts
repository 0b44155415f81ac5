// What of the service's database is a client's: see deploy/DATA.md. What bills are made from stays: counters
// of a partner's months and days, without a person in them.
import type { Db } from 'mongodb';
import type { ClientScope, PurgeRow } from '@bmg/common/purge';
import { CLIENTS } from './clients';
import { EXCHANGES, type Exchange } from './code-exchanges';
import { ONBOARDING_EVENTS } from './onboarding-events';
import { SESSIONS } from './connect-sessions';

const exchangesOf = ({ partner_id, waba_id }: ClientScope, db: Db): Promise<Exchange[]> =>
  db.collection<Exchange>(EXCHANGES).find({ partner_id, 'result.waba_id': waba_id }).toArray();

export const purgeRows: PurgeRow[] = [
  {
    collection: SESSIONS,
    of: 'client',
    // Found by the code that consumed them, so that they go before it.
    filter: async (scope, db) => ({
      partner_id: scope.partner_id,
      exchange_id: { $in: (await exchangesOf(scope, db)).map(({ _id }) => _id) },
    }),
  },
  {
    collection: EXCHANGES,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, 'result.waba_id': waba_id }),
  },
  {
    collection: ONBOARDING_EVENTS,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id }),
  },
  {
    collection: CLIENTS,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id, status: 'deleted' }),
  },
];
