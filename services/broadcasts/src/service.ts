// Composition root: builds the parts of the service and returns its components in start order.
import { createBus, gathered, topics, type Received } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import { createPurge, ownersFrom } from '@bmg/common/purge';
import type { Service } from '@bmg/common/lifecycle';
import { statusesOfEvents } from '@bmg/common/messages';
import { openMongo } from '@bmg/common/mongo';
import { createVersions } from '@bmg/common/directory';
import { openRedis } from '@bmg/common/redis';
import { createRpcClient, createRpcServer, implement } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { createCredentials } from '@bmg/common/directory';
import { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { Statuses } from '@bmg/proto/stream';
import { TemplatesDefinition } from '@bmg/proto/templates';
import type { settings } from './config';
import { createBroadcastHandlers } from './handlers';
import { createStateWriter } from './contact-states/state-writer';
import { giveWayToOwnSends } from './pace/own-sends';
import { createPace } from './pace/redis-pace';
import { createRunner } from './runner/runner';
import { applyContactStatuses } from './contact-states/status-events';
import { createBroadcastStore } from './store/broadcasts';
import { createChunkStore } from './store/chunks';
import { indexes } from './store/indexes';
import { purgeRows } from './store/purge';
import { createTemplateStateStore } from './store/template-states';
import { createTemplateValidation } from './template/validate-template';
import { createFindTemplate } from './template/find';

/** Room for 10,000 contacts with their params. */
const MESSAGE_LIMIT_BYTES = 24 * 1024 * 1024;
/** Shorter than a graceful shutdown, longer than most answers of the upstream take. */
const SENDS_STOP_LIMIT_MS = 12_000;
/** Statuses of several partitions are handled together: at a moderate load a batch has one of them. */
const STATUSES_APART_MS = 25;

export interface BroadcastsService extends Service {
  /** The gRPC port; known once started. */
  port(): number;
}

/** Longer than 70 lines: it lists the parts of the service in the order in which they depend on each other. */
export function createBroadcasts({ config, warnings }: Loaded<typeof settings>): BroadcastsService {
  const log = createLogger('broadcasts');
  const mongo = openMongo(config, 'broadcasts', log, indexes);
  const redis = openRedis(config, log);
  const directory = createRpcClient(DirectoryDefinition, config.ONBOARDING_ADDR);
  const messaging = createRpcClient(MessagingDefinition, config.MESSAGING_ADDR);
  const templates =
    config.TEMPLATES_ADDR === undefined
      ? undefined
      : createRpcClient(TemplatesDefinition, config.TEMPLATES_ADDR);
  const bus = createBus(config, 'broadcasts', log);
  const chunks = createChunkStore(mongo.db);
  const stateWriter = createStateWriter(chunks);
  const states = createTemplateStateStore(mongo.db);
  const shared = {
    broadcasts: createBroadcastStore(mongo.db),
    chunks,
    pace: createPace(redis),
    credentials: createCredentials(directory.rpc, createVersions(redis, log)),
    log,
  };
  const runner = createRunner({
    ...shared,
    stateWriter,
    messaging: messaging.rpc,
    settings: {
      share_percent: config.BROADCAST_SHARE_PERCENT,
      grace_ms: config.BROADCAST_GRACE_MS,
      lease_ms: config.BROADCAST_LEASE_MS,
      stop_limit_ms: SENDS_STOP_LIMIT_MS,
    },
  });
  const applyStatuses = applyContactStatuses(stateWriter);
  const giveWay = giveWayToOwnSends({
    pace: shared.pace,
    isActive: (phone_number_id) => runner.isActive(phone_number_id),
  });
  const takeStatuses = gathered(STATUSES_APART_MS, async (batch: Received<Statuses>[]) => {
    await giveWay(batch);
    await applyStatuses(batch);
  });
  bus.consume(topics.status, 'broadcasts-status', takeStatuses);
  bus.consume(topics.template, 'broadcasts-template', (batch) => states.apply(batch));
  bus.consume(topics.event, 'broadcasts', async (batch) => {
    await states.apply(batch);
    await takeStatuses(statusesOfEvents(batch));
  });
  const rpc = createRpcServer(
    { host: config.GRPC_HOST, port: config.GRPC_PORT, message_limit_bytes: MESSAGE_LIMIT_BYTES },
    [
      implement(
        BroadcastsDefinition,
        createBroadcastHandlers({
          ...shared,
          validateTemplate: createTemplateValidation({ templates: templates?.rpc, states, log }),
          waiting_max: config.BROADCAST_WAITING_MAX,
          findTemplate: createFindTemplate({ templates: templates?.rpc, states, log }),
          messaging: messaging.rpc,
          share_percent: config.BROADCAST_SHARE_PERCENT,
          wake: () => runner.wake(),
          now: () => new Date(),
        }),
      ),
      createPurge({ db: mongo.db, rows: purgeRows, owners: ownersFrom(directory.rpc), log }),
    ],
    log,
  );
  return {
    name: 'broadcasts',
    components: [
      redis,
      mongo,
      stateWriter,
      directory,
      messaging,
      ...(templates ? [templates] : []),
      bus,
      runner,
      rpc,
    ],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    onReady: (ready) => rpc.health.set(ready),
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
    port: () => rpc.port,
  };
}
