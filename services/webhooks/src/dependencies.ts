// Opens the engines and clients of a role, and makes of them what its features share.
import { createBus } from '@bmg/common/bus';
import { createVersions } from '@bmg/common/directory';
import { openMongo } from '@bmg/common/mongo';
import { guardedAgent } from '@bmg/common/outbound';
import { createPool } from '@bmg/common/overload';
import { openRedis } from '@bmg/common/redis';
import { createRpcClient, type Client } from '@bmg/common/rpc';
import type { Kit } from '@bmg/common/service';
import { AlertsDefinition } from '@bmg/proto/alerts';
import { PaymentsDefinition } from '@bmg/proto/billing';
import { DestinationsDefinition } from '@bmg/proto/destinations';
import { EndpointRegistryDefinition } from '@bmg/proto/endpoints';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import { indexes } from './collections';
import type { Config } from './config';
import {
  createDeliveries,
  createDestinations,
  createReceivers,
  createRequeueChannel,
  createSeen,
  Dispatcher,
  type AttemptNowDependencies,
  type RecordAttempt,
  type RequeueChannel,
} from './delivery';
import { createEventLog, REPLAY_IN_FLIGHT, type EventLog } from './event-log';
import {
  createHealthRecorder,
  createReceiverHealth,
  TESTS,
  type CheckDependencies,
  type HealthRecorder,
  type ReceiverHealth,
} from './receivers';
import { createLiveShadows, createShadows, type LiveShadows, type Shadows } from './shadows';

type Engines = ReturnType<typeof openEngines>;

export interface IngressRole extends Engines {
  payments: Client<PaymentsDefinition>;
}

export interface DeliveryRole extends Engines, AttemptNowDependencies, CheckDependencies {
  directory: Client<DirectoryDefinition>;
  registry: Client<EndpointRegistryDefinition>;
  alerts: Client<AlertsDefinition>;
  dispatcher: Dispatcher;
  requeue: RequeueChannel;
  eventLog: EventLog;
  health: ReceiverHealth;
  healthRecorder: HealthRecorder;
  shadows: Shadows;
  liveShadows: LiveShadows;
}

/** Attempts in flight of one partner to one receiver: its default share, and a replay. */
const RECEIVER_CONNECTIONS_MAX = 64 + REPLAY_IN_FLIGHT;

export function openEngines({ config, log, use, useBus }: Kit<Config>) {
  const redis = use(openRedis(config, log));
  const database = use(openMongo(config, 'webhooks', log, indexes));
  return {
    ...{ config, redis, database, db: database.db },
    bus: useBus(createBus(config, 'webhooks', log)),
    agent: guardedAgent({
      allowPrivate: config.ALLOW_PRIVATE_URLS,
      connectionsPerOrigin: RECEIVER_CONNECTIONS_MAX,
    }),
    now: () => new Date(),
    log,
  };
}

export const openIngress = ({ config, connect }: Kit<Config>, engines: Engines): IngressRole => ({
  ...engines,
  payments: connect(PaymentsDefinition, config.ONBOARDING_ADDR),
});

export function openDelivery(
  { config, log, use, connect }: Kit<Config>,
  engines: Engines,
): DeliveryRole {
  const { redis, db, agent } = engines;
  const directory = connect(DirectoryDefinition, config.ONBOARDING_ADDR);
  const { rpc: senders } = use(
    createRpcClient(DestinationsDefinition, config.DESTINATIONS_ADDR, { by_route: true }),
  );
  const deliveries = createDeliveries(db);
  const receivers = createReceivers(directory, createVersions(redis, log));
  const eventLog = createEventLog(config, { db, deliveries, log });
  const health = createReceiverHealth(db);
  const healthRecorder = createHealthRecorder(health, log);
  const shadows = createShadows(db);
  const liveShadows = createLiveShadows({ shadows, receivers, agent, log });
  const recordAttempt: RecordAttempt = (attempt, outcome, receiver) => {
    eventLog.recordAttempt(attempt, outcome);
    healthRecorder.record(attempt, outcome);
    liveShadows.offer(attempt, outcome, receiver);
  };
  const attempting = {
    ...{ deliveries, receivers, recordAttempt, agent, log },
    destinations: createDestinations(senders),
    seen: createSeen(redis),
  };
  const dispatcher = new Dispatcher({
    ...attempting,
    limits: { share: config.DELIVERY_SHARE, total: config.DELIVERY_TOTAL },
  });
  return {
    ...engines,
    ...attempting,
    ...{ directory, eventLog, health, healthRecorder, shadows, liveShadows, dispatcher },
    untrack: (delivery_key: string): void => dispatcher.untrack(delivery_key),
    requeue: use(createRequeueChannel(redis, (id) => dispatcher.reloadPartner(id), log)),
    registry: connect(EndpointRegistryDefinition, config.ONBOARDING_ADDR),
    alerts: connect(AlertsDefinition, config.ONBOARDING_ADDR),
    destinationChecks: senders,
    tests: createPool(TESTS, log),
  };
}
