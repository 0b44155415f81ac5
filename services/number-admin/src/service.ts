import { createCredentials, createVersions } from '@bmg/common/directory';
import { createOnce, REQUEST_CLAIMS, requestClaimIndexes } from '@bmg/common/idempotency';
import { openMongo, type Indexes } from '@bmg/common/mongo';
import { openRedis } from '@bmg/common/redis';
import { implement, type Handlers } from '@bmg/common/rpc';
import { defineService, ownIndexes, type Kit } from '@bmg/common/service';
import { createUpstream, createAccountLimits, createRunner } from '@bmg/common/upstream';
import { Node } from '@bmg/proto/common';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { Config } from './config';
import { createMembership, createNumbers } from './membership';
import { automation } from './operations/automation';
import { blocking } from './operations/blocking';
import { calls } from './operations/calls';
import { commerce } from './operations/commerce';
import { diagnostics } from './operations/diagnostics';
import { groups } from './operations/groups';
import { phone } from './operations/phone';
import { profile } from './operations/profile';
import { qrCodes } from './operations/qr-codes';
import { settings } from './operations/settings';
import type { Dependencies, Tools } from './tools';

const indexes: Indexes = { [REQUEST_CLAIMS]: requestClaimIndexes };

export function createNumberAdminHandlers(
  dependencies: Dependencies,
): Handlers<NumberAdminDefinition> {
  const { upstream, credentials, log } = dependencies;
  const common = { upstream, credentials, limits: createAccountLimits(log) };
  const requireMember = createMembership(createRunner(common).ask);
  const numberOf = createNumbers(requireMember);
  const runner = createRunner({ ...common, numberOf });
  const tools: Tools = { ...dependencies, ask: runner.ask, numberOf, requireMember };
  return runner.handlers<Handlers<NumberAdminDefinition>>({
    ...profile,
    ...qrCodes,
    ...automation,
    ...blocking,
    ...commerce,
    ...settings(tools),
    ...diagnostics(tools),
    ...phone(tools),
    ...calls(tools),
    ...groups(tools),
  });
}

export const createNumberAdmin = defineService({
  name: 'number-admin',
  open({ config, log, use, connect }: Kit<Config>) {
    const redis = use(openRedis(config, log));
    const database = use(openMongo(config, 'number-admin', log, indexes));
    const upstream = use(createUpstream(config));
    const directory = connect(DirectoryDefinition, config.ONBOARDING_ADDR);
    const credentials = createCredentials(directory, createVersions(redis, log));
    const once = createOnce({ db: database.db, now: () => new Date(), log });
    const shared = { database, upstream, credentials, directory, once, log };
    return { ...shared, platform_pin: config.PLATFORM_PIN };
  },
  features: [
    (deps) => {
      const handlers = createNumberAdminHandlers(deps);
      const placeCall = deps.once(handlers.placeCall, { codec: Node });
      const createGroup = deps.once(handlers.createGroup, { codec: Node });
      return {
        rpcs: [implement(NumberAdminDefinition, { ...handlers, placeCall, createGroup })],
      };
    },
    ownIndexes,
  ],
});
