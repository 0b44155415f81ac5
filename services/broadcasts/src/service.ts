// Composition root: opens the engines and clients, wires the features, joins their handlers and consumers,
// and returns the components in the order of their start.
import { createBus, gathered, topics, type Bus, type Received } from '@bmg/common/bus';
import type { Config, Loaded } from '@bmg/common/config';
import { createPurge, ownersFrom } from '@bmg/common/purge';
import type { Service } from '@bmg/common/lifecycle';
import { statusesOfEvents } from '@bmg/common/messages';
import { openMongo } from '@bmg/common/mongo';
import { openRedis } from '@bmg/common/redis';
import { createRpcClient, createRpcServer, implement } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { Statuses } from '@bmg/proto/stream';
import type { settings } from './config';
import { wireContactStates } from './contact-states/wire';
import { createDependencies, type Dependencies } from './dependencies';
import { createBroadcastHandlers } from './handlers';
import { createForecastLimits } from './preflight/forecast';
import { wireRunner } from './runner/wire';
import { indexes } from './store/indexes';
import { purgeRows } from './store/purge';
import { wireTemplates } from './template/wire';

/** Room for 10,000 contacts with their params. */
const MESSAGE_LIMIT_BYTES = 24 * 1024 * 1024;
/** Statuses of several partitions are handled together: at a moderate load a batch has one of them. */
const STATUSES_APART_MS = 100;

export interface BroadcastsService extends Service {
  /** The gRPC port; known once started. */
  port(): number;
}

export function createBroadcasts({ config, warnings }: Loaded<typeof settings>): BroadcastsService {
  const log = createLogger('broadcasts');
  const mongo = openMongo(config, 'broadcasts', log, indexes);
  const redis = openRedis(config, log);
  const directory = createRpcClient(DirectoryDefinition, config.ONBOARDING_ADDR);
  const messaging = createRpcClient(MessagingDefinition, config.MESSAGING_ADDR);
  const bus = createBus(config, 'broadcasts', log);
  const deps = createDependencies({
    db: mongo.db,
    redis,
    directory: directory.rpc,
    messaging: messaging.rpc,
    log,
  });
  const features = wireFeatures(deps, config);
  const { contactStates, templates, runner } = features;
  consumeTopics(bus, features);
  const rpc = createRpcServer(
    { host: config.GRPC_HOST, port: config.GRPC_PORT, message_limit_bytes: MESSAGE_LIMIT_BYTES },
    [
      implement(
        BroadcastsDefinition,
        createBroadcastHandlers({
          ...deps,
          ...templates,
          waiting_max: config.BROADCAST_WAITING_MAX,
          share_percent: config.BROADCAST_SHARE_PERCENT,
          forecast_limits: createForecastLimits(log),
          wake: runner.wake,
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
      ...contactStates.components,
      directory,
      messaging,
      ...templates.components,
      bus,
      ...runner.components,
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

type Features = ReturnType<typeof wireFeatures>;

function wireFeatures(deps: Dependencies, config: Config<typeof settings>) {
  const contactStates = wireContactStates(deps.chunks);
  return {
    contactStates,
    templates: wireTemplates(deps, config.TEMPLATES_ADDR),
    runner: wireRunner(deps, contactStates.stateWriter, config),
  };
}

function consumeTopics(bus: Bus, { contactStates, templates, runner }: Features): void {
  const takeStatuses = gathered(STATUSES_APART_MS, async (batch: Received<Statuses>[]) => {
    await runner.giveWay(batch);
    await contactStates.applyStatuses(batch);
  });
  bus.consume(topics.status, 'broadcasts-status', takeStatuses);
  bus.consume(topics.template, 'broadcasts-template', templates.applyEvents);
  bus.consume(topics.event, 'broadcasts', async (batch) => {
    await templates.applyEvents(batch);
    await takeStatuses(statusesOfEvents(batch));
  });
}
