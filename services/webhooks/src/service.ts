// The composition root: opens things, wires them, returns components in the order of their start.
import { createBus, topics } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import { createPurge, ownersFrom } from '@bmg/common/purge';
import type { Component, Service } from '@bmg/common/lifecycle';
import { openMongo } from '@bmg/common/mongo';
import { guardedAgent } from '@bmg/common/outbound';
import { createVersions } from '@bmg/common/directory';
import { openRedis } from '@bmg/common/redis';
import { createRpcClient, createRpcServer } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { AlertsDefinition } from '@bmg/proto/alerts';
import { PaymentsDefinition } from '@bmg/proto/billing';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { settings } from './config';
import { createCanary } from './canary/canary';
import { Dispatcher } from './delivery/dispatcher';
import { createEventLog, packerOf } from './event-log/event-log';
import { createEventLogHandlers } from './event-log/handlers';
import { createReplayRunner, REPLAY_IN_FLIGHT } from './event-log/replay';
import { createIngress } from './ingress/ingress';
import { createOutageWatch } from './ingress/outages';
import { createPaymentEvents } from './ingress/payment-events';
import { createReceivers } from './delivery/receivers';
import { createFailureAlerts } from './recovery/failure-alerts';
import { createRecoveryHandlers } from './recovery/handlers';
import { createRequeueChannel } from './recovery/requeue-channel';
import { createRequeueRuns } from './recovery/requeue-runs';
import { createSeen } from './delivery/seen';
import { createAttempts } from './store/attempts';
import { createDeliveries } from './store/deliveries';
import { createEventLogStore } from './store/event-log';
import { indexes } from './store/indexes';
import { createReplays } from './store/replays';
import { createPurgeRows } from './store/purge';

/** To one receiver: a partner's share by default, and a replay. */
const RECEIVER_CONNECTIONS_MAX = 64 + REPLAY_IN_FLIGHT;

export interface WebhooksService extends Service {
  /** The port of the upstream's webhooks; known once started. */
  ingressPort(): number;
}

export function createWebhooks({ config, warnings }: Loaded<typeof settings>): WebhooksService {
  const log = createLogger('webhooks');
  const redis = openRedis(config, log);
  const mongo = openMongo(config, 'webhooks', log, indexes);
  const bus = createBus(config, 'webhooks', log);
  const directory = createRpcClient(DirectoryDefinition, config.ONBOARDING_ADDR);
  const agent = guardedAgent({
    allowPrivate: config.ALLOW_PRIVATE_URLS,
    connectionsPerOrigin: RECEIVER_CONNECTIONS_MAX,
  });
  const deliveries = createDeliveries(mongo.db);
  const packer = packerOf(config);
  const event_log = createEventLog(config, {
    store: createEventLogStore(mongo.db),
    attempts: createAttempts(mongo.db),
    deliveries,
    packer,
    log,
  });
  const shared = {
    deliveries,
    recordAttempt: event_log.recordAttempt,
    receivers: createReceivers(directory.rpc, createVersions(redis, log)),
    seen: createSeen(redis),
    agent,
    log,
  };
  const dispatcher = new Dispatcher({
    ...shared,
    limits: { share: config.DELIVERY_SHARE, total: config.DELIVERY_TOTAL },
  });
  const untrack = (event_id: string): void => dispatcher.untrack(event_id);
  const replays = createReplayRunner({
    ...shared,
    replays: createReplays(mongo.db),
    reader: event_log.reader,
    untrack,
  });
  bus.consumeUnsettled(
    topics.delivery,
    'webhooks',
    async (batch, heartbeat) => {
      await dispatcher.accept(event_log.writer.accept(batch), heartbeat);
      await event_log.writer.waitForRoom(heartbeat);
    },
    (partitions) => dispatcher.assignPartitions(partitions),
  );
  const requeue = createRequeueChannel(redis, (id) => dispatcher.reloadPartner(id), log);
  const payments = createRpcClient(PaymentsDefinition, config.ONBOARDING_ADDR);
  const alerts = createRpcClient(AlertsDefinition, config.ONBOARDING_ADDR);
  const outages = createOutageWatch({ db: mongo.db, bus, now: () => new Date(), log });
  const canary = createCanary(config, { redis, agent, log });
  const ingress = createIngress(config, {
    bus,
    payments: createPaymentEvents(payments.rpc, log),
    outages,
    canary: canary?.receive,
    log,
  });
  const rpc = createRpcServer(
    { host: config.GRPC_HOST, port: config.GRPC_PORT },
    [
      createRecoveryHandlers({
        ...shared,
        requeueRuns: createRequeueRuns(redis, async (partner_id) => {
          const queued = await shared.deliveries.requeueAll(partner_id, new Date());
          if (queued > 0) await requeue.announce(partner_id);
          return queued;
        }),
        untrack,
      }),
      createEventLogHandlers({ ...event_log, replays }),
      createPurge({
        db: mongo.db,
        rows: createPurgeRows(packer),
        owners: ownersFrom(directory.rpc),
        log,
      }),
    ],
    log,
  );
  // Last in the list, so stopped first: no new deliveries, while those in flight end and are
  // committed.
  const intake: Component = {
    name: 'intake',
    start: async () => {},
    stop: async () => bus.pauseIntake(),
  };
  return {
    name: 'webhooks',
    components: [
      redis,
      mongo,
      directory,
      payments,
      alerts,
      requeue,
      bus,
      event_log.writer,
      dispatcher,
      replays,
      createFailureAlerts({ ...shared, alerts: alerts.rpc, now: () => new Date() }),
      rpc,
      event_log.waiters,
      event_log.expiry,
      ingress,
      outages,
      ...(canary ? [canary.sender] : []),
      intake,
    ],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    onReady: (ready) => rpc.health.set(ready),
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
    ingressPort: ingress.port,
  };
}
