// The composition root: opens the engines, wires the parts, returns the components in the order of
// their start.
import { createBus, gathered, topics, type Bus, type Received } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import { createVersions } from '@bmg/common/directory';
import { createPoller, type Poller, type Service } from '@bmg/common/lifecycle';
import { statusesOfEvents } from '@bmg/common/messages';
import { missingIndexes, openMongo, type Database } from '@bmg/common/mongo';
import { guardedAgent } from '@bmg/common/outbound';
import { createPool } from '@bmg/common/overload';
import { createPurge } from '@bmg/common/purge';
import { openRedis } from '@bmg/common/redis';
import { createRpcServer, implement, type Implementation } from '@bmg/common/rpc';
import { createLogger, type Logger } from '@bmg/common/telemetry';
import { createUpstream, type Upstream } from '@bmg/common/upstream';
import {
  DirectoryDefinition,
  OnboardingDefinition,
  OperatorDefinition,
} from '@bmg/proto/onboarding';
import { AlertsDefinition } from '@bmg/proto/alerts';
import { SettingsDefinition } from '@bmg/proto/settings';
import { createAlerts, type Alerts } from './alerts/alerts';
import { createClientHandlers } from './clients/handlers';
import { createRefreshPoller } from './clients/refresh-poller';
import { applyStateEvents } from './clients/state-events';
import { createTokenExpiryPoller } from './clients/token-expiry-poller';
import type { settings } from './config';
import { createDirectoryHandlers } from './directory/handlers';
import { diagnose } from './operator/diagnose';
import { createOperatorHandlers } from './operator/handlers';
import { createDashboardHandlers } from './partners/handlers';
import { choosePaymentProcessor } from './payments/choose-processor';
import { rotateKeyring } from './secrets/keyring';
import type { Event } from '@bmg/proto/stream';
import { createVault } from '@bmg/common/vault';
import { signUpApp } from './sign-up/dialog-config';
import {
  createConnectHandlers,
  createSessionHandlers,
  deleteUnfinishedSessions,
} from './sign-up/handlers';
import { registerFromCode } from './sign-up/register-from-code';
import { createSyncPoller } from './sign-up/sync-poller';
import { indexes } from './store/indexes';
import { purgeRows } from './store/purge';
import { createStores } from './store/stores';
import { countCalls, countMessages } from './usage/consumers';
import { createUsageHandlers } from './usage/handlers';

/** Pictures of sign-up pages that are fetched at a time: one of each partner. */
const LOGO_FETCHES = {
  server: 'onboarding',
  reason: 'logo_fetches',
  holder: 'partner',
  max: 8,
  share: 1 / 8,
} as const;

type Settings = Loaded<typeof settings>['config'];

export function createOnboarding(
  { config, warnings }: Loaded<typeof settings>,
  now: () => Date = () => new Date(),
): Service {
  const log = createLogger('onboarding');
  const mongo = openMongo(config, 'onboarding', log, indexes);
  const redis = openRedis(config, log);
  const upstream = createUpstream(config);
  const bus = createBus(config, 'onboarding', log);
  const engines: Engines = { mongo, redis, upstream, bus };
  const deps = createDependencies(config, engines, now, log, () => tokenPoller.wake());
  const tokenPoller = createTokenExpiryPoller(deps);
  const refreshPoller = createRefreshPoller(deps);
  const alerts = createAlerts({ ...deps, bus });
  consumeTopics(bus, deps, { refreshPoller, alerts });
  const rpc = createRpcServer(
    { host: config.GRPC_HOST, port: config.GRPC_PORT },
    [...implementations(deps, engines, warnings), implement(AlertsDefinition, alerts.handlers)],
    log,
  );
  return {
    name: 'onboarding',
    components: [
      redis,
      mongo,
      upstream,
      bus,
      refreshPoller,
      createSyncPoller(deps),
      tokenPoller,
      createPendingCountsPoller(deps),
      alerts.poller,
      ...deps.payments.components,
      {
        name: 'logo-agent',
        async start() {},
        stop: () => deps.agent.destroy(),
      },
      rpc,
    ],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    onReady: (ready) => rpc.health.set(ready),
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
  };
}

interface Engines {
  mongo: Database;
  redis: ReturnType<typeof openRedis>;
  upstream: Upstream;
  bus: Bus;
}

type Dependencies = ReturnType<typeof createDependencies>;

function createDependencies(
  config: Settings,
  { mongo, redis, upstream }: Engines,
  now: () => Date,
  log: Logger,
  onTokensDue: () => void,
) {
  const base = {
    onTokensDue,
    ...createStores(mongo.db),
    vault: createVault(config.ENCRYPTION_KEYRING),
    versions: createVersions(redis, log),
    upstream,
    agent: guardedAgent({ allowPrivate: config.ALLOW_PRIVATE_URLS }),
    logoFetches: createPool(LOGO_FETCHES, log),
    settings: config,
    app: () => signUpApp(config),
    now,
    log,
  };
  const payments = choosePaymentProcessor(config.PAYMENT_PROCESSOR, {
    settings: config,
    deps: base,
  });
  return { ...base, payments };
}

function consumeTopics(
  bus: Bus,
  deps: Dependencies,
  { refreshPoller, alerts }: { refreshPoller: Poller; alerts: Alerts },
): void {
  const applyToClients = applyStateEvents({ ...deps, onRefreshDue: () => refreshPoller.wake() });
  const applyState = async (batch: Received<Event>[]): Promise<void> => {
    await applyToClients(batch);
    await alerts.applyQuality(batch);
  };
  const countStatuses = gathered(COUNTS_APART_MS, countMessages(deps));
  bus.consume(topics.usage, 'onboarding-usage', countCalls(deps));
  bus.consume(topics.account, 'onboarding-account', applyState);
  bus.consume(topics.status, 'onboarding-status', countStatuses);
  bus.consume(topics.event, 'onboarding', async (batch) => {
    await applyState(batch);
    await countStatuses(statusesOfEvents(batch.filter(({ message }) => !message.internal)));
  });
}

function implementations(
  deps: Dependencies,
  { mongo, redis, bus }: Engines,
  warnings: string[],
): Implementation[] {
  return [
    implement(OnboardingDefinition, {
      ...createClientHandlers(deps),
      ...createConnectHandlers(deps),
      ...createUsageHandlers(deps),
      registerFromCode: registerFromCode(deps),
    }),
    implement(DirectoryDefinition, {
      ...createDirectoryHandlers(deps),
      ...createSessionHandlers(deps),
    }),
    implement(SettingsDefinition, createDashboardHandlers(deps)),
    deps.payments.rpc,
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
        deleteSessions: deleteUnfinishedSessions(deps),
        rotateKeyring: (page) => rotateKeyring(deps, page),
        diagnose: () =>
          diagnose({
            ...deps,
            warnings,
            ping: () => mongo.db.command({ ping: 1 }),
            missingIndexes: () => missingIndexes(mongo.db, indexes),
            pingRedis: () => redis.redis.ping(),
            missingTopics: () => bus.missingTopics(),
          }),
      }),
    ),
  ];
}

/** A report of usage may be this much behind; counting takes six commands, whatever it counts. */
const COUNTS_APART_MS = 500;
/** Only a crash leaves counts pending: that is rare and not urgent. */
const PENDING_COUNTS_EVERY_MS = 30_000;

const createPendingCountsPoller = ({ messageUsage, now, log }: Dependencies): Poller =>
  createPoller(
    'message usage',
    PENDING_COUNTS_EVERY_MS,
    async () => (await messageUsage.addPendingCounts(now())) > 0,
    log,
  );
