// The dependencies that the features share: the stores, the vault, the upstream, the payment
// processor.
import type { Bus } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import { createVersions } from '@bmg/common/directory';
import type { Database } from '@bmg/common/mongo';
import { createPeppers } from '@bmg/common/keys';
import { guardedAgent } from '@bmg/common/outbound';
import { createPool } from '@bmg/common/overload';
import type { openRedis } from '@bmg/common/redis';
import type { Logger } from '@bmg/common/telemetry';
import type { Upstream } from '@bmg/common/upstream';
import { createVault } from '@bmg/common/vault';
import type { settings } from './config';
import { LOGO_FETCHES } from './accounts/partners';
import { choosePaymentProcessor } from './billing/payments';
import { signUpApp } from './connect/sign-up';
import { createStores } from './stores';

export type Settings = Loaded<typeof settings>['config'];

export interface Engines {
  mongo: Database;
  redis: ReturnType<typeof openRedis>;
  upstream: Upstream;
  bus: Bus;
}

export type Dependencies = ReturnType<typeof createDependencies>;

export function createDependencies(
  config: Settings,
  { mongo, redis, upstream }: Engines,
  given: {
    now: () => Date;
    log: Logger;
    onTokensDue(this: void): void;
    onEventsDue(this: void): void;
  },
) {
  const base = {
    ...given,
    ...createStores(mongo.db),
    vault: createVault(config.ENCRYPTION_KEYRING),
    peppers: createPeppers(config.KEY_PEPPER),
    versions: createVersions(redis, given.log),
    upstream,
    agent: guardedAgent({ allowPrivate: config.ALLOW_PRIVATE_URLS }),
    logoFetches: createPool(LOGO_FETCHES, given.log),
    settings: config,
    app: () => signUpApp(config),
  };
  const payments = choosePaymentProcessor(config.PAYMENT_PROCESSOR, {
    settings: config,
    deps: base,
  });
  return { ...base, payments };
}
