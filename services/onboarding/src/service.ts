// The composition root: opens things, wires them, returns components in the order of their start.
import { createBus, topics } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import { createPurge } from '@bmg/common/purge';
import { createPoller, type Service } from '@bmg/common/lifecycle';
import { missingIndexes, openMongo } from '@bmg/common/mongo';
import { createVersions } from '@bmg/common/directory';
import { openRedis } from '@bmg/common/redis';
import { createRpcServer, implement } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { createUpstream } from '@bmg/common/upstream';
import { OnboardingDefinition } from '@bmg/proto/onboarding';
import type { settings } from './config';
import { connectHandlers, deleteUnfinishedSessions } from './sign-up/handlers';
import { diagnose } from './operator/diagnose';
import { directory } from './directory/handlers';
import { clientHandlers } from './clients/handlers';
import { rotateKeyring } from './secrets/keyring';
import { operator } from './operator/handlers';
import { choosePayments } from './payments/choose-processor';
import { createRefresher } from './clients/refresh-poller';
import { registerFromCode } from './sign-up/register-from-code';
import { settings as ownSettings } from './partners/handlers';
import { signUpApp } from './sign-up/dialog-config';
import { applyStateEvents } from './clients/state-events';
import { createBillingAccounts } from './store/billing-accounts';
import { createClientEvents } from './store/client-facts';
import { createClientSyncs } from './store/client-syncs';
import { createClientTokens } from './store/client-tokens';
import { createClients } from './store/clients';
import { createDashboardSessions } from './store/dashboard-sessions';
import { createEndpointUsage } from './store/endpoint-usage';
import { createExchanges } from './store/code-exchanges';
import { indexes } from './store/indexes';
import { createMessageUsage } from './store/message-usage';
import { createOnboardingEvents } from './store/onboarding-events';
import { createPartners } from './store/partners';
import { createPaymentEvents } from './store/payment-events';
import { purgeRows } from './store/purge';
import { createSealedRecords } from './store/sealed-records';
import { createSessions } from './store/connect-sessions';
import { createSlotCharges } from './store/slot-charges';
import { createSyncClock } from './sign-up/sync-poller';
import { createTokenClock } from './clients/token-expiry-poller';
import { applyMessageStatuses, applyUsage, usageHandlers } from './usage/handlers';
import { createVault } from './secrets/vault';

/** What a crash has left uncounted is rare and not urgent. */
const SETTLE_EVERY_MS = 30_000;

export function createOnboarding(
  { config, warnings }: Loaded<typeof settings>,
  now: () => Date = () => new Date(),
): Service {
  const log = createLogger('onboarding');
  const mongo = openMongo(config, 'onboarding', log, indexes);
  const redis = openRedis(config, log);
  const upstream = createUpstream(config);
  const bus = createBus(config, 'onboarding', log);
  const base = {
    clients: createClients(mongo.db),
    clientEvents: createClientEvents(mongo.db),
    clientSyncs: createClientSyncs(mongo.db),
    clientTokens: createClientTokens(mongo.db),
    partners: createPartners(mongo.db),
    sessions: createSessions(mongo.db),
    dashboardSessions: createDashboardSessions(mongo.db),
    exchanges: createExchanges(mongo.db),
    events: createOnboardingEvents(mongo.db),
    endpointUsage: createEndpointUsage(mongo.db),
    messageUsage: createMessageUsage(mongo.db),
    sealedRecords: createSealedRecords(mongo.db),
    vault: createVault(config.ENCRYPTION_KEYRING),
    versions: createVersions(redis, log),
    upstream,
    settings: config,
    app: () => signUpApp(config),
    now,
    log,
  };
  const payments = choosePayments(config.PAYMENT_PROCESSOR, {
    settings: config,
    deps: {
      ...base,
      accounts: createBillingAccounts(mongo.db),
      charges: createSlotCharges(mongo.db),
      events: createPaymentEvents(mongo.db),
    },
  });
  const deps = { ...base, payments };
  const refresher = createRefresher(deps);
  const syncClock = createSyncClock(deps);
  const tokenClock = createTokenClock(deps);
  const settler = createPoller(
    'message usage',
    SETTLE_EVERY_MS,
    async () => (await deps.messageUsage.settleLeftovers(now())) > 0,
    log,
  );
  const applyState = applyStateEvents({ ...deps, onRefreshDue: () => refresher.wake() });
  const countMessages = applyMessageStatuses(deps);
  bus.consume(topics.usage, 'onboarding-usage', applyUsage(deps));
  bus.consume(topics.event, 'onboarding', async (batch) => {
    await applyState(batch);
    await countMessages(batch);
  });
  const rpc = createRpcServer(
    { host: config.GRPC_HOST, port: config.GRPC_PORT },
    [
      implement(OnboardingDefinition, {
        ...clientHandlers(deps),
        ...connectHandlers(deps),
        ...usageHandlers(deps),
        registerFromCode: registerFromCode(deps),
      }),
      directory(deps),
      ownSettings(deps),
      payments.rpc,
      createPurge({
        db: mongo.db,
        rows: purgeRows,
        owners: async (waba_id) =>
          (await deps.clients.ownersOfAccount(waba_id)).map(({ partner_id }) => partner_id),
        log,
      }),
      operator({
        ...deps,
        deleteSessions: deleteUnfinishedSessions(deps),
        rotateKeyring: (page) => rotateKeyring(deps, page),
        diagnose: diagnose({
          ...deps,
          warnings,
          ping: () => mongo.db.command({ ping: 1 }),
          missingIndexes: () => missingIndexes(mongo.db, indexes),
          pingRedis: () => redis.redis.ping(),
          checkKafka: async () => bus.check?.(),
        }),
      }),
    ],
    log,
  );
  return {
    name: 'onboarding',
    components: [
      redis,
      mongo,
      upstream,
      bus,
      refresher,
      syncClock,
      tokenClock,
      settler,
      ...payments.components,
      rpc,
    ],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    onReady: (ready) => rpc.health.set(ready),
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
  };
}
