// Opens the engines, and makes of them what the features share.
// The inferred types of this module name messages of these packages.
import type {} from '@bmg/proto/onboarding';
import type {} from '@bmg/proto/stream';
import { createBus } from '@bmg/common/bus';
import { createVersions } from '@bmg/common/directory';
import { createPeppers } from '@bmg/common/keys';
import { openMongo } from '@bmg/common/mongo';
import { guardedAgent } from '@bmg/common/outbound';
import { createPool } from '@bmg/common/overload';
import { openRedis } from '@bmg/common/redis';
import type { Kit } from '@bmg/common/service';
import { createUpstream } from '@bmg/common/upstream';
import { createVault } from '@bmg/common/vault';
import { AUDIT_EXPORTS } from './accounts/audit/store';
import { LOGO_FETCHES } from './accounts/partners/logo';
import { choosePaymentProcessor } from './billing/payments/choose-processor';
import type { Config } from './config';
import { createTokenExpiryPoller } from './connect/clients/token-expiry-poller';
import { createDueEventPoller } from './connect/due-events/publish';
import { signUpApp } from './connect/sign-up/dialog-config';
import { createStores, indexes } from './stores';

export type Dependencies = ReturnType<typeof openDependencies>;

export function openDependencies(
  { config, log, use, useBus }: Kit<Config>,
  given: { warnings: string[]; now: () => Date },
) {
  const redis = use(openRedis(config, log));
  const database = use(openMongo(config, 'onboarding', log, indexes));
  const agent = guardedAgent({ allowPrivate: config.ALLOW_PRIVATE_URLS });
  use({ name: 'outbound-agent', start: async () => undefined, stop: () => agent.destroy() });
  const base = {
    ...given,
    ...createStores(database.db),
    settings: config,
    database,
    redis: redis.redis,
    bus: useBus(createBus(config, 'onboarding', log)),
    upstream: use(createUpstream(config)),
    vault: createVault(config.ENCRYPTION_KEYRING),
    peppers: createPeppers(config.KEY_PEPPER),
    versions: createVersions(redis, log),
    agent,
    logoFetches: createPool(LOGO_FETCHES, log),
    auditExports: createPool(AUDIT_EXPORTS, log),
    app: () => signUpApp(config),
    log,
  };
  const tokenExpiry = createTokenExpiryPoller(base);
  const dueEventPoller = createDueEventPoller(base);
  return {
    ...base,
    payments: choosePaymentProcessor(config, base),
    tokenExpiry,
    dueEventPoller,
    /** Called when tokens are due for a check. */
    onTokensDue: tokenExpiry.wake,
    /** Called when a row holds an event. */
    onEventsDue: dueEventPoller.wake,
  };
}
