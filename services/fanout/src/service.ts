import { createBus, topics } from '@bmg/common/bus';
import { createVersions } from '@bmg/common/directory';
import { openRedis } from '@bmg/common/redis';
import { defineService } from '@bmg/common/service';
import { RatesDefinition } from '@bmg/proto/messaging';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import { deliverAlerts } from './alerts';
import { createCategoryCosts } from './category-costs';
import type { Config } from './config';
import { createFanOut, type FanOutDependencies } from './fan-out';
import { createMemory } from './memory';
import { createOlderFirst } from './older-first';
import { createOwners } from './owners';
import { createWishes } from './wishes';

export const createFanout = defineService<Config, FanOutDependencies>({
  name: 'fanout',
  open({ config, log, use, useBus, connect }) {
    const redis = use(openRedis(config, log));
    const directory = connect(DirectoryDefinition, config.ONBOARDING_ADDR);
    const versions = createVersions(redis, log);
    return {
      bus: useBus(createBus(config, 'fanout', log)),
      owners: createOwners(directory, versions),
      wishes: createWishes(directory, versions),
      memory: createMemory(redis),
      categoryCosts: createCategoryCosts(connect(RatesDefinition, config.MESSAGING_ADDR), log),
      public_url: config.PUBLIC_URL,
      log,
    };
  },
  features: [
    (deps) => {
      const fanOut = createFanOut(deps);
      const older = createOlderFirst(() => deps.bus.behind(topics.webhookByNumber, 'fanout'));
      return {
        consumers: {
          webhookByNumber: fanOut,
          webhook: async (batch) => {
            await older.handled();
            await fanOut(batch);
          },
        },
      };
    },
    (deps) => ({ consumers: { alert: deliverAlerts(deps) } }),
  ],
});
