import type { Bus } from '@bmg/common/bus';
import type { Database } from '@bmg/common/mongo';
import { createPurge } from '@bmg/common/purge';
import { implement } from '@bmg/common/rpc';
import { createIndexRpcs } from '@bmg/common/service';
import { OperatorDefinition } from '@bmg/proto/onboarding';
import type { Feature } from '../ground/feature';
import { checkChain, type SealerDependencies } from '../accounts/audit';
import type { PartnerKeys } from '../accounts/keys';
import { rotateKeyring, type KeyringDependencies } from './keyring';
import type { OldHashes } from '../ground/partners';
import { purgeRows } from './purge';
import { subscribeApp } from './app-subscription';
import { diagnose, type DiagnoseDependencies } from './diagnose';
import { createOperatorHandlers, type OperatorDependencies } from './handlers';

type Needs = Omit<OperatorDependencies, 'rotateKeyring' | 'diagnose' | 'subscribeApp'> &
  KeyringDependencies &
  Omit<DiagnoseDependencies, 'ping' | 'pingRedis' | 'missingTopics' | 'auditChain'> &
  SealerDependencies & {
    partnerKeys: Pick<PartnerKeys, 'ofOtherPeppers'>;
    database: Database;
    redis: { ping(): Promise<unknown> };
    bus: Pick<Bus, 'missingTopics'>;
  };

/** Partner keys and API keys together. */
const keysOfOtherPeppers =
  ({ partners, partnerKeys }: Pick<Needs, 'partners' | 'partnerKeys'>) =>
  async (pepper_id: string, at: Date): Promise<OldHashes> => {
    const found = await Promise.all([
      partners.keysOfOtherPeppers(pepper_id, at),
      partnerKeys.ofOtherPeppers(pepper_id, at),
    ]);
    return {
      count: found.reduce((sum, { count }) => sum + count, 0),
      partner_ids: [...new Set(found.flatMap(({ partner_ids }) => partner_ids))],
    };
  };

export const createOperator = (deps: Needs): Feature => ({
  rpcs: [
    createIndexRpcs(deps.database, deps.log),
    createPurge({
      db: deps.database.background,
      rows: purgeRows,
      owners: async (waba_id) =>
        (await deps.clients.ownersOfAccount(waba_id)).map(({ partner_id }) => partner_id),
      log: deps.log,
    }),
    implement(
      OperatorDefinition,
      createOperatorHandlers({
        ...deps,
        rotateKeyring: (page) => rotateKeyring(deps, page),
        subscribeApp: (request, call) => subscribeApp(deps, request, call),
        diagnose: () =>
          diagnose({
            ...deps,
            partners: { keysOfOtherPeppers: keysOfOtherPeppers(deps) },
            ping: () => deps.database.db.command({ ping: 1 }),
            auditChain: () => checkChain(deps, Infinity),
            pingRedis: () => deps.redis.ping(),
            missingTopics: () => deps.bus.missingTopics(),
          }),
      }),
    ),
  ],
});
