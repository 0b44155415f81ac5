// Components of a process that delivers events to partners: the dispatcher, the event log, and the RPCs
// about both.
import { topics } from '@bmg/common/bus';
import { createVersions } from '@bmg/common/directory';
import { createPool } from '@bmg/common/overload';
import { createPurge, ownersFrom } from '@bmg/common/purge';
import { createIndexRpcs } from '@bmg/common/service';
import { createRpcClient, createRpcServer } from '@bmg/common/rpc';
import { createKeyUse } from '@bmg/common/vault';
import { AlertsDefinition } from '@bmg/proto/alerts';
import { DestinationsDefinition } from '@bmg/proto/destinations';
import { EndpointRegistryDefinition } from '@bmg/proto/endpoints';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { RecordAttempt } from './delivery/attempt';
import { Dispatcher } from './delivery/dispatcher';
import { createDestinations } from './delivery/destination-attempt';
import { createReceivers } from './delivery/receivers';
import { createSeen } from './delivery/seen';
import { TESTS } from './receivers/check-receiver';
import { createEndpointHandlers } from './receivers/handlers';
import { createDisabling, createHealthRecorder } from './receivers/health';
import { createEventLog, packerOf, vaultOf } from './event-log/event-log';
import { createEventLogHandlers } from './event-log/handlers';
import { createReplayRunner } from './event-log/replay';
import type { Role, Shared } from './ingress-role';
import { createFailureAlerts } from './recovery/failure-alerts';
import { createRecoveryHandlers } from './recovery/handlers';
import { createRequeueChannel } from './delivery/requeue-channel';
import { createRequeueRuns } from './recovery/requeue-runs';
import { createLastDay } from './shadows/last-day';
import { createLiveShadows } from './shadows/live';
import { createAttempts } from './event-log/store/attempts';
import { createDeliveries } from './delivery/store';
import { createEndpointHealthStore } from './receivers/store';
import { createEventLogStore } from './event-log/store/buckets';
import { createPurgeRows } from './event-log/store/purge';
import { createReplays } from './event-log/store/replays';
import { createShadows } from './shadows/store';

export interface DeliveryRole extends Role {
  onReady(ready: boolean): void;
}

export function createDeliveryRole(given: Shared): DeliveryRole {
  const { config, redis, mongo, bus, agent, log } = given;
  const directory = createRpcClient(DirectoryDefinition, config.ONBOARDING_ADDR);
  const registry = createRpcClient(EndpointRegistryDefinition, config.ONBOARDING_ADDR);
  const alerts = createRpcClient(AlertsDefinition, config.ONBOARDING_ADDR);
  const deliveries = createDeliveries(mongo.db);
  const vault = vaultOf(config);
  const packer = packerOf(config, vault);
  const key_use = vault
    ? [createKeyUse({ db: mongo.db, ring: 'EVENT_LOG_KEYRING', vault, log })]
    : [];
  const event_log = createEventLog(config, {
    store: createEventLogStore(mongo.db),
    attempts: createAttempts(mongo.db),
    deliveries,
    packer,
    log,
  });
  const health = createEndpointHealthStore(mongo.db);
  const recorder = createHealthRecorder(health, log);
  const shadows = createShadows(mongo.db);
  const receivers = createReceivers(directory.rpc, createVersions(redis, log));
  const live_shadows = createLiveShadows({ shadows, receivers, agent, log });
  const recordAttempt: RecordAttempt = (attempt, outcome, receiver) => {
    event_log.recordAttempt(attempt, outcome);
    recorder.record(attempt, outcome);
    live_shadows.offer(attempt, outcome, receiver);
  };
  const senders = createRpcClient(DestinationsDefinition, config.DESTINATIONS_ADDR, {
    by_route: true,
  });
  const shared = {
    deliveries,
    destinations: createDestinations(senders.rpc),
    recordAttempt,
    receivers,
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
  const last_day = createLastDay({
    ...shared,
    shadows,
    reader: event_log.reader,
    registry: registry.rpc,
  });
  bus.consumeUnsettled(
    topics.delivery,
    'webhooks',
    async (batch, heartbeat) => {
      await dispatcher.accept(event_log.writer.accept(batch), heartbeat);
      await event_log.writer.waitForRoom(heartbeat);
    },
    (partitions) => {
      live_shadows.assignPartitions(partitions.length);
      dispatcher.assignPartitions(partitions);
    },
  );
  const requeue = createRequeueChannel(redis, (id) => dispatcher.reloadPartner(id), log);
  const requeueRuns = createRequeueRuns(redis, async (partner_id) => {
    const queued = await deliveries.requeueAll(partner_id, new Date());
    if (queued > 0) await requeue.announce(partner_id);
    return queued;
  });
  const owners = ownersFrom(directory.rpc);
  const endpoints = createEndpointHandlers({
    ...shared,
    destinationChecks: senders.rpc,
    tests: createPool(TESTS, log),
    registry: registry.rpc,
    health,
    announce: requeue.announce,
    shadows,
    reader: event_log.reader,
    lastDay: last_day,
  });
  const rpc = createRpcServer(
    { host: config.GRPC_HOST, port: config.GRPC_PORT },
    [
      createRecoveryHandlers({ ...shared, requeueRuns, untrack, reads: event_log.reads }),
      createEventLogHandlers({ ...event_log, replays }),
      endpoints.handlers,
      createIndexRpcs(mongo, log),
      createPurge({ db: mongo.background, rows: createPurgeRows(packer), owners, log }),
    ],
    log,
  );
  const failures = createFailureAlerts({ ...shared, alerts: alerts.rpc, now: () => new Date() });
  const disabling = createDisabling({ registry: registry.rpc, health, log, now: () => new Date() });
  const { writer, waiters, expiry } = event_log;
  return {
    clients: [directory, registry, alerts, senders, requeue],
    workers: [
      writer,
      recorder,
      live_shadows,
      dispatcher,
      replays,
      last_day,
      failures,
      disabling,
      endpoints.first_tests,
      rpc,
      waiters,
      expiry,
      ...key_use,
    ],
    onReady: (ready) => rpc.health.set(ready),
  };
}
