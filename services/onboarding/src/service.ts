// The composition root: opens the engines, wires the features, joins their handlers and consumers,
// and returns the components in the order of their start.
import { createBus, topics, type Bus } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import type { Service } from '@bmg/common/lifecycle';
import { openMongo } from '@bmg/common/mongo';
import { openRedis } from '@bmg/common/redis';
import { createRpcServer, implement } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { createUpstream } from '@bmg/common/upstream';
import { createKeyUse } from '@bmg/common/vault';
import { DirectoryDefinition, OnboardingDefinition } from '@bmg/proto/onboarding';
import { createAlertsFeature } from './accounts/alerts';
import { createAudit } from './accounts/audit';
import { createKeys } from './accounts/keys';
import { createPartnerSettings } from './accounts/partners';
import { createPeopleFeature } from './accounts/people';
import { createReceivers } from './accounts/receivers';
import { createRequestLogHandlers } from './accounts/requests';
import { createUsage } from './billing/usage';
import type { settings } from './config';
import { createDueEvents } from './connect/due-events';
import { createClientsFeature } from './connect/clients';
import { createDirectory } from './connect/directory';
import { createSignUp } from './connect/sign-up';
import { createSync } from './connect/sync';
import { createDependencies, type Dependencies, type Engines } from './dependencies';
import type { Feature } from './ground/feature';
import { indexes } from './stores';
import { createOperator } from './operator';

export function createOnboarding(
  { config, warnings }: Loaded<typeof settings>,
  now: () => Date = () => new Date(),
): Service {
  const log = createLogger('onboarding');
  const engines: Engines = {
    mongo: openMongo(config, 'onboarding', log, indexes),
    redis: openRedis(config, log),
    upstream: createUpstream(config),
    bus: createBus(config, 'onboarding', log),
  };
  const onTokensDue = (): void => features.clients.checkTokens();
  const onEventsDue = (): void => features.dueEvents.publish();
  const deps = createDependencies(config, engines, { now, log, onTokensDue, onEventsDue });
  const features = createFeatures(deps, engines, warnings);
  const { clients, signUp, usage, directory } = features;
  const all: Feature[] = Object.values(features);
  consumeTopics(engines.bus, all);
  const rpc = createRpcServer(
    { host: config.GRPC_HOST, port: config.GRPC_PORT },
    [
      implement(OnboardingDefinition, {
        ...clients.handlers,
        ...signUp.handlers,
        ...usage.handlers,
        ...createRequestLogHandlers(deps),
      }),
      implement(DirectoryDefinition, { ...directory.handlers, ...signUp.directoryHandlers }),
      ...all.flatMap(({ rpcs = [] }) => rpcs),
    ],
    log,
  );
  return {
    name: 'onboarding',
    components: [
      engines.redis,
      engines.mongo,
      engines.upstream,
      engines.bus,
      ...all.flatMap(({ components = [] }) => components),
      createKeyUse({ ...deps, db: engines.mongo.db, ring: 'ENCRYPTION_KEYRING' }),
      rpc,
    ],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    onReady: (ready) => rpc.health.set(ready),
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
  };
}

function createFeatures(deps: Dependencies, engines: Engines, warnings: string[]) {
  const { bus, mongo, redis } = engines;
  const signUp = createSignUp(deps);
  const { deleteSessions } = signUp;
  const given = { warnings, deleteSessions, bus, database: mongo, redis: redis.redis };
  return {
    clients: createClientsFeature(deps),
    dueEvents: createDueEvents({ ...deps, bus }),
    signUp,
    sync: createSync(deps),
    usage: createUsage(deps),
    alerts: createAlertsFeature({ ...deps, bus }),
    payments: deps.payments,
    partners: createPartnerSettings(deps),
    people: createPeopleFeature(deps),
    keys: createKeys({ ...deps, deleteSessions }),
    receivers: createReceivers({ ...deps, bus }),
    audit: createAudit(deps),
    directory: createDirectory(deps),
    operator: createOperator({ ...deps, ...given }),
  };
}

/** The rooms that read one topic do so one after the other, in the order of the features. */
function consumeTopics(bus: Bus, features: Feature[]): void {
  const consumers = features.flatMap(({ consumers: found = [] }) => found);
  bus.consume(topics.usage, 'onboarding-usage', inTurn(consumers.map((one) => one.usage)));
  bus.consume(topics.account, 'onboarding-account', inTurn(consumers.map((one) => one.account)));
  bus.consume(topics.status, 'onboarding-status', inTurn(consumers.map((one) => one.status)));
}

const inTurn =
  <T>(consumers: Array<((batch: T) => Promise<void>) | undefined>) =>
  async (batch: T): Promise<void> => {
    for (const consume of consumers) await consume?.(batch);
  };
