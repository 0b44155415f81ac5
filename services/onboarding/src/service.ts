// The composition root: opens the engines, wires the features, joins their handlers and consumers,
// and returns the components in the order of their start.
import { createBus, topics, type Bus, type Received } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import type { Service } from '@bmg/common/lifecycle';
import { statusesOfEvents } from '@bmg/common/messages';
import { openMongo } from '@bmg/common/mongo';
import { openRedis } from '@bmg/common/redis';
import { createRpcServer, implement } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { createUpstream } from '@bmg/common/upstream';
import { createKeyUse } from '@bmg/common/vault';
import { AlertsDefinition } from '@bmg/proto/alerts';
import { DirectoryDefinition, OnboardingDefinition } from '@bmg/proto/onboarding';
import type { Event } from '@bmg/proto/stream';
import { createAlerts } from './accounts/alerts/alerts';
import { wireAudit } from './accounts/audit/feature';
import { wireClients } from './connect/clients/feature';
import type { settings } from './config';
import { createDependencies, type Dependencies, type Engines } from './dependencies';
import { createDirectoryHandlers } from './connect/directory/handlers';
import { wireEndpoints } from './accounts/receivers/feature';
import { wireKeys } from './accounts/keys/feature';
import { wireOperator } from './operator/feature';
import { wirePartners } from './accounts/partners/feature';
import { wirePeople } from './accounts/people/feature';
import { wireSignUp } from './connect/sign-up/feature';
import { indexes } from './indexes';
import { wireUsage } from './billing/usage/feature';

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
  const deps = createDependencies(config, engines, { now, log, onTokensDue });
  const features = wireFeatures(deps, engines, warnings);
  const { clients, signUp, usage, alerts, partners, people, keys, endpoints, audit, operator } =
    features;
  consumeTopics(engines.bus, features);
  const rpc = createRpcServer(
    { host: config.GRPC_HOST, port: config.GRPC_PORT },
    [
      implement(OnboardingDefinition, {
        ...clients.handlers,
        ...signUp.handlers,
        ...usage.handlers,
      }),
      implement(DirectoryDefinition, {
        ...createDirectoryHandlers(deps),
        ...signUp.directoryHandlers,
      }),
      ...partners.rpcs,
      ...people.rpcs,
      ...keys.rpcs,
      ...endpoints.rpcs,
      ...audit.rpcs,
      deps.payments.rpc,
      ...operator.rpcs,
      implement(AlertsDefinition, alerts.handlers),
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
      ...clients.components,
      ...signUp.components,
      ...usage.components,
      alerts.poller,
      createKeyUse({ ...deps, db: engines.mongo.db, ring: 'ENCRYPTION_KEYRING' }),
      ...deps.payments.components,
      ...partners.components,
      rpc,
    ],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    onReady: (ready) => rpc.health.set(ready),
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
  };
}

type Features = ReturnType<typeof wireFeatures>;

function wireFeatures(deps: Dependencies, engines: Engines, warnings: string[]) {
  const signUp = wireSignUp(deps);
  const deleteSessions = signUp.deleteUnfinishedSessions;
  return {
    clients: wireClients(deps),
    signUp,
    usage: wireUsage(deps),
    alerts: createAlerts({ ...deps, bus: engines.bus }),
    partners: wirePartners(deps),
    people: wirePeople(deps),
    keys: wireKeys(deps, { deleteSessions }),
    endpoints: wireEndpoints(deps, engines.bus),
    audit: wireAudit(deps),
    operator: wireOperator(deps, { engines, warnings, deleteSessions }),
  };
}

function consumeTopics(bus: Bus, { clients, alerts, usage }: Features): void {
  const applyState = async (batch: Received<Event>[]): Promise<void> => {
    await clients.applyState(batch);
    await alerts.applyQuality(batch);
  };
  bus.consume(topics.usage, 'onboarding-usage', usage.countCalls);
  bus.consume(topics.account, 'onboarding-account', applyState);
  bus.consume(topics.status, 'onboarding-status', usage.countStatuses);
  bus.consume(topics.event, 'onboarding', async (batch) => {
    await applyState(batch);
    const statuses = batch.filter(({ message }) => !message.internal);
    await usage.countStatuses(statusesOfEvents(statuses));
  });
}
