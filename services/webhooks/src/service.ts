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
import { PaymentsDefinition } from '@bmg/proto/billing';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { settings } from './config';
import { createDispatcher } from './delivery/dispatcher';
import { createIngress } from './ingress/ingress';
import { createPaymentEvents } from './ingress/payment-events';
import { createReceivers } from './delivery/receivers';
import { recovery } from './recovery/recovery';
import { createRequeue } from './recovery/requeue';
import { createSeen } from './delivery/seen';
import { createDeliveries } from './store/deliveries';
import { indexes } from './store/indexes';
import { purgeRows } from './store/purge';

const CONNECTIONS_OF_RECEIVER = 64;

export interface WebhooksService extends Service {
  /** The port that the upstream's webhooks are taken on; known once started. */
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
    connectionsPerOrigin: CONNECTIONS_OF_RECEIVER,
  });
  const shared = {
    deliveries: createDeliveries(mongo.db),
    receivers: createReceivers(directory.rpc, createVersions(redis, log)),
    seen: createSeen(redis),
    agent,
    log,
  };
  const dispatcher = createDispatcher({
    ...shared,
    settings: { share: config.DELIVERY_SHARE, total: config.DELIVERY_TOTAL },
  });
  bus.consumeUnsettled(topics.delivery, 'webhooks', dispatcher.accept, dispatcher.assign);
  const requeue = createRequeue(redis, dispatcher.reload, log);
  const payments = createRpcClient(PaymentsDefinition, config.ONBOARDING_ADDR);
  const ingress = createIngress(config, bus, createPaymentEvents(payments.rpc, log), log);
  const rpc = createRpcServer(
    { host: config.GRPC_HOST, port: config.GRPC_PORT },
    [
      recovery({ ...shared, announce: requeue.announce, settled: dispatcher.forget }),
      createPurge({ db: mongo.db, rows: purgeRows, owners: ownersFrom(directory.rpc), log }),
    ],
    log,
  );
  // Stopped first: no new deliveries, while the ones in flight still end and are committed.
  const intake: Component = {
    name: 'intake',
    start: async () => {},
    stop: async () => bus.pauseIntake(),
  };
  return {
    name: 'webhooks',
    components: [redis, mongo, directory, payments, requeue, bus, dispatcher, rpc, ingress, intake],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    onReady: (ready) => rpc.health.set(ready),
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
    ingressPort: ingress.port,
  };
}
