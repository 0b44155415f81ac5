// Composition root: opens the engines, wires the service and returns its components in start order.
import { createBus, topics } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import { createPurge, ownersFrom } from '@bmg/common/purge';
import { createFileFetcher, createTransfer } from '@bmg/common/files';
import type { Service } from '@bmg/common/lifecycle';
import { openMongo } from '@bmg/common/mongo';
import { createVersions } from '@bmg/common/directory';
import { openRedis } from '@bmg/common/redis';
import { createRpcClient, createRpcServer, implement } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { createCredentials } from '@bmg/common/directory';
import { createUpstream } from '@bmg/common/upstream';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import { TemplatesDefinition } from '@bmg/proto/templates';
import type { settings } from './config';
import { createTemplatesHandlers } from './handlers';
import { applyTemplateEvents } from './events';
import { purgeRows } from './store/purge';
import { indexes } from './store/indexes';
import { createTemplateStore } from './store/templates';

/** Fits the list of every template an account can have. The gateway's client allows the same size. */
const MESSAGE_LIMIT_BYTES = 24 * 1024 * 1024;

export function createTemplates({ config, warnings }: Loaded<typeof settings>): Service {
  const log = createLogger('templates');
  const mongo = openMongo(config, 'templates', log, indexes);
  const redis = openRedis(config, log);
  const upstream = createUpstream(config);
  const files = createFileFetcher(config);
  const transfer = createTransfer(config);
  const directory = createRpcClient(DirectoryDefinition, config.ONBOARDING_ADDR);
  const store = createTemplateStore(mongo.db);
  const bus = createBus(config, 'templates', log);
  const applyEvents = applyTemplateEvents(store);
  bus.consume(topics.template, 'templates-template', applyEvents);
  bus.consume(topics.event, 'templates', applyEvents);
  const deps = {
    upstream,
    transfer,
    files,
    store,
    credentials: createCredentials(directory.rpc, createVersions(redis, log)),
    app_id: config.UPSTREAM_APP_ID,
    now: () => new Date(),
    log,
  };
  const rpc = createRpcServer(
    {
      host: config.GRPC_HOST,
      port: config.GRPC_PORT,
      message_limit_bytes: MESSAGE_LIMIT_BYTES,
    },
    [
      implement(TemplatesDefinition, createTemplatesHandlers(deps)),
      createPurge({ db: mongo.db, rows: purgeRows, owners: ownersFrom(directory.rpc), log }),
    ],
    log,
  );
  return {
    name: 'templates',
    components: [redis, mongo, upstream, files, transfer, directory, bus, rpc],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    onReady: (ready) => rpc.health.set(ready),
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
  };
}
