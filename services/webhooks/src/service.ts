// The composition root: opens the engines, wires the roles of this process, and returns its
// components in the order of their start.
import { createBus } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import type { Component, Service } from '@bmg/common/lifecycle';
import { openMongo } from '@bmg/common/mongo';
import { guardedAgent } from '@bmg/common/outbound';
import { openRedis } from '@bmg/common/redis';
import { createLogger } from '@bmg/common/telemetry';
import type { settings } from './config';
import { createDeliveryRole } from './delivery-role';
import { REPLAY_IN_FLIGHT } from './event-log/replay-work';
import { createIngressRole } from './ingress-role';
import { indexes } from './collections';

/** Attempts in flight of one partner to one receiver: its default share, and a replay. */
const RECEIVER_CONNECTIONS_MAX = 64 + REPLAY_IN_FLIGHT;

export interface WebhooksService extends Service {
  /** The port of the upstream's webhooks; known once started, 0 without the role of the ingress. */
  ingressPort(): number;
}

export function createWebhooks({ config, warnings }: Loaded<typeof settings>): WebhooksService {
  const log = createLogger('webhooks');
  const redis = openRedis(config, log);
  const mongo = openMongo(config, 'webhooks', log, indexes);
  const bus = createBus(config, 'webhooks', log);
  const agent = guardedAgent({
    allowPrivate: config.ALLOW_PRIVATE_URLS,
    connectionsPerOrigin: RECEIVER_CONNECTIONS_MAX,
  });
  const shared = { config, redis, mongo, bus, agent, log };
  const { WEBHOOKS_ROLE: role } = config;
  const delivery = role === 'ingress' ? undefined : createDeliveryRole(shared);
  const ingress = role === 'delivery' ? undefined : createIngressRole(shared);
  const roles = [delivery, ingress].filter((one) => one !== undefined);
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
      ...roles.flatMap(({ clients }) => clients),
      bus,
      ...roles.flatMap(({ workers }) => workers),
      intake,
    ],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    onReady: (ready) => delivery?.onReady(ready),
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
    ingressPort: () => ingress?.port() ?? 0,
  };
}
