import { missingIndexes } from '@bmg/common/mongo';
import { createPurge } from '@bmg/common/purge';
import { implement } from '@bmg/common/rpc';
import { OperatorDefinition } from '@bmg/proto/onboarding';
import type { Dependencies, Engines } from '../dependencies';
import { rotateKeyring } from './keyring';
import type { deleteUnfinishedSessions } from '../connect/sign-up/handlers';
import { indexes } from '../indexes';
import type { OldHashes } from '../ground/partners';
import { purgeRows } from './purge';
import { diagnose } from './diagnose';
import { createOperatorHandlers } from './handlers';

interface Given {
  engines: Engines;
  warnings: string[];
  deleteSessions: ReturnType<typeof deleteUnfinishedSessions>;
}

/** Partner keys and API keys together. */
const keysOfOtherPeppers =
  ({ partners, partnerKeys }: Pick<Dependencies, 'partners' | 'partnerKeys'>) =>
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

export const wireOperator = (
  deps: Dependencies,
  { engines: { mongo, redis, bus }, warnings, deleteSessions }: Given,
) => ({
  rpcs: [
    createPurge({
      db: mongo.db,
      rows: purgeRows,
      owners: async (waba_id) =>
        (await deps.clients.ownersOfAccount(waba_id)).map(({ partner_id }) => partner_id),
      log: deps.log,
    }),
    implement(
      OperatorDefinition,
      createOperatorHandlers({
        ...deps,
        deleteSessions,
        rotateKeyring: (page) => rotateKeyring(deps, page),
        diagnose: () =>
          diagnose({
            ...deps,
            partners: { keysOfOtherPeppers: keysOfOtherPeppers(deps) },
            warnings,
            ping: () => mongo.db.command({ ping: 1 }),
            missingIndexes: () => missingIndexes(mongo.db, indexes),
            pingRedis: () => redis.redis.ping(),
            missingTopics: () => bus.missingTopics(),
          }),
      }),
    ),
  ],
});
