// The composition root: opens the engines, wires the features, joins their handlers and consumers,
// and returns the components in the order of their start.
import { createBus, gathered, topics, type Bus, type Received } from '@bmg/common/bus';
import type { Loaded } from '@bmg/common/config';
import { createFileFetcher, createTransfer } from '@bmg/common/files';
import type { Component, Service } from '@bmg/common/lifecycle';
import { contactsOfEvents, statusesOfEvents } from '@bmg/common/messages';
import { openMongo } from '@bmg/common/mongo';
import { createPurge, ownersFrom } from '@bmg/common/purge';
import { openRedis } from '@bmg/common/redis';
import { createRpcServer, implement } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { createUpstream } from '@bmg/common/upstream';
import { MessagingDefinition } from '@bmg/proto/messaging';
import type { Statuses } from '@bmg/proto/stream';
import { wireAnalytics } from './analytics/feature';
import type { Config, settings } from './config';
import { wireContacts } from './contacts/feature';
import { createDependencies, type Dependencies, type Engines } from './dependencies';
import { wireGapRepair } from './gap-repair/feature';
import { wireLedger } from './ledger/feature';
import { wireMedia } from './media/feature';
import { wireMessageLog } from './message-log/feature';
import { connectNeighbours } from './neighbours';
import { wirePreflight } from './preflight/feature';
import { wireRates } from './rates/feature';
import { wireSend } from './send/feature';
import { applyStatuses } from './messages/statuses';
import { indexes } from './store/indexes';
import { purgeRows } from './store/purge';

/**
 * Statuses of several partitions are written together: at a moderate load a batch holds one status.
 */
const STATUSES_APART_MS = 100;

export function createMessaging({ config, warnings }: Loaded<typeof settings>): Service {
  const log = createLogger('messaging');
  const engines = {
    mongo: openMongo(config, 'messaging', log, indexes),
    redis: openRedis(config, log),
    bus: createBus(config, 'messaging', log),
    upstream: createUpstream(config),
    files: createFileFetcher(config),
    transfer: createTransfer(config),
  };
  const neighbours = connectNeighbours(config);
  const deps = createDependencies(config, engines, neighbours.rpcs, log);
  const features = wireFeatures(deps, engines, config);
  const { contacts, gapRepair, ledger, rates } = features;
  consumeTopics(engines.bus, deps, features);
  const rpc = createRpcServer(
    { host: config.GRPC_HOST, port: config.GRPC_PORT },
    [
      implement(MessagingDefinition, {
        ...features.send.handlers,
        ...features.media.handlers,
        ...features.messageLog.handlers,
        ...features.preflight.handlers,
        ...features.analytics.handlers,
        ...contacts.handlers,
      }),
      ...ledger.rpcs,
      ...rates.rpcs,
      createPurge({
        db: engines.mongo.db,
        rows: purgeRows,
        owners: ownersFrom(deps.directory),
        log,
      }),
    ],
    log,
  );
  return {
    name: 'messaging',
    components: [
      engines.redis,
      engines.mongo,
      deps.sendJournal,
      records(deps, features),
      engines.upstream,
      engines.files,
      engines.transfer,
      ...neighbours.components,
      engines.bus,
      ...gapRepair.components,
      ...contacts.components,
      ...ledger.components,
      rpc,
    ],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    onReady: (ready) => rpc.health.set(ready),
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
  };
}

type Features = ReturnType<typeof wireFeatures>;

const wireFeatures = (deps: Dependencies, engines: Engines, config: Config) => ({
  send: wireSend(deps),
  media: wireMedia(deps, config),
  messageLog: wireMessageLog(deps),
  preflight: wirePreflight(deps),
  analytics: wireAnalytics(deps),
  contacts: wireContacts(deps),
  gapRepair: wireGapRepair(deps, engines, config),
  ledger: wireLedger(deps, config),
  rates: wireRates(deps),
});

function consumeTopics(
  bus: Bus,
  { messages, recent }: Dependencies,
  { contacts, gapRepair }: Features,
): void {
  const applyToMessages = applyStatuses(messages, gapRepair.losses);
  const takeStatuses = gathered(STATUSES_APART_MS, async (batch: Received<Statuses>[]) => {
    await applyToMessages(batch);
    await contacts.applyStatuses(batch);
  });
  bus.consume(topics.status, 'messaging-status', takeStatuses);
  // Another process may have stored and removed contacts of partitions that come back.
  bus.consume(topics.contact, 'messaging-contact', contacts.applyContacts, () => recent.clear());
  bus.consume(topics.outage, 'messaging-outage', gapRepair.applyOutages);
  bus.consume(topics.event, 'messaging', async (batch) => {
    await Promise.all([
      takeStatuses(statusesOfEvents(batch)),
      contacts.applyContacts(contactsOfEvents(batch)),
    ]);
  });
}

/** Writes waiting changes before the database is closed. */
const records = ({ contacts, messages, log }: Dependencies, features: Features): Component => ({
  name: 'records',
  start: () => contacts.start(new Date()),
  stop: async () => {
    const noted = features.contacts
      .storeLate()
      .catch((error: unknown) => log.warn({ err: error }, 'failed to store contacts'));
    await Promise.all([noted, messages.drain(), contacts.drain()]);
  },
});
