// The composition root: opens things, wires them, returns components in the order of their start.
import { createBus, topics } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import type { Service } from '@bmg/common/lifecycle';
import { createVersions } from '@bmg/common/directory';
import { openRedis } from '@bmg/common/redis';
import { createRpcClient } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { RatesDefinition } from '@bmg/proto/messaging';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { settings } from './config';
import { deliverAlerts } from './alerts';
import { createCategoryCosts } from './category-costs';
import { createFanOut } from './fan-out';
import { createMemory } from './memory';
import { createOwners } from './owners';

export function createFanout({ config, warnings }: Loaded<typeof settings>): Service {
  const log = createLogger('fanout');
  const redis = openRedis(config, log);
  const directory = createRpcClient(DirectoryDefinition, config.ONBOARDING_ADDR);
  const rates =
    config.MESSAGING_ADDR === undefined
      ? undefined
      : createRpcClient(RatesDefinition, config.MESSAGING_ADDR);
  const bus = createBus(config, 'fanout', log);
  bus.consume(
    topics.upstreamWebhook,
    'fanout',
    createFanOut({
      bus,
      owners: createOwners(directory.rpc, createVersions(redis, log)),
      memory: createMemory(redis),
      categoryCosts: createCategoryCosts(rates?.rpc, log),
      public_url: config.PUBLIC_URL,
      log,
    }),
  );
  bus.consume(topics.alert, 'fanout-alert', deliverAlerts(bus, config.PUBLIC_URL));
  return {
    name: 'fanout',
    components: [redis, directory, ...(rates ? [rates] : []), bus],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
  };
}
