// The composition root: opens things, wires them, returns components in the order of their start.
import { createBus, topics } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import type { Service } from '@bmg/common/lifecycle';
import { createVersions } from '@bmg/common/directory';
import { openRedis } from '@bmg/common/redis';
import { createRpcClient } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { settings } from './config';
import { deliverAlerts } from './alerts';
import { createFanOut } from './fan-out';
import { createMemory } from './memory';
import { createOwners } from './owners';

export function createFanout({ config, warnings }: Loaded<typeof settings>): Service {
  const log = createLogger('fanout');
  const redis = openRedis(config, log);
  const directory = createRpcClient(DirectoryDefinition, config.ONBOARDING_ADDR);
  const bus = createBus(config, 'fanout', log);
  bus.consume(
    topics.upstreamWebhook,
    'fanout',
    createFanOut({
      bus,
      owners: createOwners(directory.rpc, createVersions(redis, log)),
      memory: createMemory(redis),
      public_url: config.PUBLIC_URL,
      log,
    }),
  );
  bus.consume(topics.alert, 'fanout-alert', deliverAlerts(bus, config.PUBLIC_URL));
  return {
    name: 'fanout',
    components: [redis, directory, bus],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
  };
}
