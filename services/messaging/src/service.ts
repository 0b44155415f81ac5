// Composition root: opens the engines, wires the service and returns its components in start order.
import { createBus, topics } from '@bmg/common/bus';
import { contactsOfEvents, statusesOfEvents } from '@bmg/common/messages';
import type { Loaded } from '@bmg/common/config';
import { createPurge, ownersFrom } from '@bmg/common/purge';
import { createFileFetcher, createTransfer } from '@bmg/common/files';
import type { Component, Service } from '@bmg/common/lifecycle';
import { openMongo } from '@bmg/common/mongo';
import { createVersions } from '@bmg/common/directory';
import { openRedis } from '@bmg/common/redis';
import { createRpcClient, createRpcServer, implement } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { createCredentials } from '@bmg/common/directory';
import { createUpstream } from '@bmg/common/upstream';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { settings } from './config';
import { applyContacts } from './contacts';
import { createMessagingHandlers } from './handlers';
import { createMediaHosts } from './media/hosts';
import { createRecentContacts } from './recent-contacts';
import { applyStatuses } from './statuses';
import { createContacts } from './store/contacts';
import { createDailyCounts } from './store/daily-counts';
import { indexes } from './store/indexes';
import { createMessages } from './store/messages';
import { purgeRows } from './store/purge';

export function createMessaging({ config, warnings }: Loaded<typeof settings>): Service {
  const log = createLogger('messaging');
  const mongo = openMongo(config, 'messaging', log, indexes);
  const redis = openRedis(config, log);
  const upstream = createUpstream(config);
  const directory = createRpcClient(DirectoryDefinition, config.ONBOARDING_ADDR);
  const files = createFileFetcher(config);
  const transfer = createTransfer(config);
  const messages = createMessages(mongo.db);
  const contacts = createContacts(mongo.db);
  const bus = createBus(config, 'messaging', log);
  const now = (): Date => new Date();
  const recent = createRecentContacts();
  const takeStatuses = applyStatuses(messages);
  const takeContacts = applyContacts({ contacts, recent, now });
  bus.consume(topics.status, 'messaging-status', takeStatuses);
  // Another process may have stored and removed contacts of partitions that come back.
  bus.consume(topics.contact, 'messaging-contact', takeContacts, () => recent.clear());
  bus.consume(topics.event, 'messaging', async (batch) => {
    await Promise.all([
      takeStatuses(statusesOfEvents(batch)),
      takeContacts(contactsOfEvents(batch)),
    ]);
  });
  const deps = {
    upstream,
    credentials: createCredentials(directory.rpc, createVersions(redis, log)),
    messages,
    contacts,
    dailyCounts: createDailyCounts(mongo.db),
    files,
    transfer,
    mediaHosts: createMediaHosts(config),
    now,
    recent,
    log,
  };
  const rpc = createRpcServer(
    { host: config.GRPC_HOST, port: config.GRPC_PORT },
    [
      implement(MessagingDefinition, createMessagingHandlers(deps)),
      createPurge({ db: mongo.db, rows: purgeRows, owners: ownersFrom(directory.rpc), log }),
    ],
    log,
  );
  const records: Component = {
    name: 'records',
    start: async () => {},
    stop: async () => {
      await Promise.all([messages.drain(), contacts.drain()]);
    },
  };
  return {
    name: 'messaging',
    components: [redis, mongo, records, upstream, files, transfer, directory, bus, rpc],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    onReady: (ready) => rpc.health.set(ready),
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
  };
}
