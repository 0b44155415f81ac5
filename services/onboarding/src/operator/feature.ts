import { createPurge } from '@bmg/common/purge';
import { implement } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { createKeyUse } from '@bmg/common/vault';
import { OperatorDefinition } from '@bmg/proto/onboarding';
import type { Dependencies } from '../dependencies';
import { createOperatorHandlers } from './handlers';
import { purgeRows } from './purge';

export function operator(deps: Dependencies): Feature {
  const { clients, database, log } = deps;
  const owners = async (waba_id: string): Promise<string[]> =>
    (await clients.ownersOfAccount(waba_id)).map(({ partner_id }) => partner_id);
  return {
    rpcs: [
      createPurge({ db: database.background, rows: purgeRows, owners, log }),
      implement(OperatorDefinition, createOperatorHandlers(deps)),
    ],
    workers: [createKeyUse({ ...deps, db: database.db, ring: 'ENCRYPTION_KEYRING' })],
  };
}
