import { createBus } from '@bmg/common/bus';
import { createCredentials, createVersions } from '@bmg/common/directory';
import { createFileFetcher, createTransfer } from '@bmg/common/files';
import { createOnce } from '@bmg/common/idempotency';
import { openMongo } from '@bmg/common/mongo';
import { openRedis } from '@bmg/common/redis';
import { implement } from '@bmg/common/rpc';
import { defineService, ownIndexes, purge, type Kit } from '@bmg/common/service';
import { createUpstream } from '@bmg/common/upstream';
import { Node } from '@bmg/proto/common';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import { TemplatesDefinition } from '@bmg/proto/templates';
import type { Config } from './config';
import { applyTemplateEvents } from './events';
import { createTemplatesHandlers } from './handlers';
import { createTemplateStore, indexes, purgeRows } from './store';

export const createTemplates = defineService({
  name: 'templates',
  // Fits the list of every template an account can have. The gateway's client allows the same size.
  message_limit_bytes: 24 * 1024 * 1024,
  open({ config, log, use, useBus, connect }: Kit<Config>) {
    const redis = use(openRedis(config, log));
    const database = use(openMongo(config, 'templates', log, indexes));
    const upstream = use(createUpstream(config));
    const files = use(createFileFetcher(config));
    const transfer = use(createTransfer(config));
    const directory = connect(DirectoryDefinition, config.ONBOARDING_ADDR);
    const credentials = createCredentials(directory, createVersions(redis, log));
    const store = createTemplateStore(database.db);
    const now = (): Date => new Date();
    const once = createOnce({ db: database.db, now, log });
    const shared = { database, directory, credentials, store, once, log, now };
    useBus(createBus(config, 'templates', log));
    return { ...shared, upstream, files, transfer, app_id: config.UPSTREAM_APP_ID };
  },
  features: [
    (deps) => {
      const handlers = createTemplatesHandlers(deps);
      const createTemplate = deps.once(handlers.createTemplate, { codec: Node });
      return {
        rpcs: [implement(TemplatesDefinition, { ...handlers, createTemplate })],
        consumers: { template: applyTemplateEvents(deps.store) },
      };
    },
    purge(purgeRows),
    ownIndexes,
  ],
});
