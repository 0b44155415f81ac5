// Composition root: opens the engines, wires the service and returns its components in start order.
import { createBus, gathered, topics, type Received } from '@bmg/common/bus';
import { contactsOfEvents, statusesOfEvents } from '@bmg/common/messages';
import type { Loaded } from '@bmg/common/config';
import { createPurge, ownersFrom } from '@bmg/common/purge';
import { createFileFetcher, createTransfer } from '@bmg/common/files';
import { createPoller, type Component, type Service } from '@bmg/common/lifecycle';
import { openMongo } from '@bmg/common/mongo';
import { createVersions } from '@bmg/common/directory';
import { createByteRate, createPool, createTransferPool } from '@bmg/common/overload';
import { openRedis } from '@bmg/common/redis';
import { createRpcClient, createRpcServer, implement } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { createCredentials } from '@bmg/common/directory';
import { createUpstream } from '@bmg/common/upstream';
import { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import { AlertsDefinition } from '@bmg/proto/alerts';
import { LedgerDefinition } from '@bmg/proto/ledger';
import { MessagingDefinition, RatesDefinition } from '@bmg/proto/messaging';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { Statuses } from '@bmg/proto/stream';
import { TemplatesDefinition } from '@bmg/proto/templates';
import { EventLogDefinition } from '@bmg/proto/webhooks';
import { factsOfStatuses } from './preflight/conversation-facts';
import { createBlockLists } from './preflight/block-list';
import { LOOKS_MAX, LOOKS_SHARE } from './preflight/media';
import type { settings } from './config';
import { applyContacts } from './contacts/apply';
import { noteFacts, noteLate } from './contacts/conversations';
import { createMessagingHandlers } from './handlers';
import { createLosses } from './gap-repair/losses';
import { applyOutages } from './gap-repair/outages';
import { createHistoryQuota } from './gap-repair/history-quota';
import { createGapRepair } from './gap-repair/repair';
import { createCategoryLookup } from './ledger/category-lookup';
import { createClosing } from './ledger/closing';
import { createLedgerHandlers } from './ledger/handlers';
import { addLate } from './ledger/late';
import { EXPORT_BYTES_PER_S, LEDGER_READS_MAX } from './ledger/read-ledger';
import { createSpendAlerts } from './ledger/spend-alerts';
import { DOWNLOAD_BYTES_PER_S, DOWNLOADS_MAX } from './media/download';
import { createMediaHosts } from './media/hosts';
import { SEARCHED_MAX } from './message-log/search';
import { createRatesHandlers } from './rates/handlers';
import { createRecentContacts } from './contacts/recent-contacts';
import { createRecordReads } from './record-reads';
import { createRecentConversations, LATE_MS } from './contacts/recent-conversations';
import { applyStatuses } from './statuses';
import { createOverdueRecords } from './store/overdue-records';
import { createContacts, createConversations } from './store/contacts';
import { createDailyCounts } from './store/daily-counts';
import { indexes } from './store/indexes';
import { createLedgerDays } from './store/ledger-days';
import { createLedgerEntries } from './store/ledger-entries';
import { createLateEntries } from './store/ledger-late';
import { createLedgerMonths } from './store/ledger-months';
import { createMessageList } from './store/message-list';
import { createMessages } from './store/messages';
import { createRateCards } from './store/rate-cards';
import { createRefusedTokens } from './store/refused-tokens';
import { createSendClaims } from './store/send-claims';
import { purgeRows } from './store/purge';

/** Statuses of several partitions are written together: at a moderate load a batch has one of them. */
const STATUSES_APART_MS = 25;

/** Longer than 70 lines: it lists the parts of the service in the order in which they depend on each other. */
export function createMessaging({ config, warnings }: Loaded<typeof settings>): Service {
  const log = createLogger('messaging');
  const mongo = openMongo(config, 'messaging', log, indexes);
  const redis = openRedis(config, log);
  const upstream = createUpstream(config);
  const directory = createRpcClient(DirectoryDefinition, config.ONBOARDING_ADDR);
  const alerts = createRpcClient(AlertsDefinition, config.ONBOARDING_ADDR);
  const files = createFileFetcher(config);
  const transfer = createTransfer(config);
  const templates =
    config.TEMPLATES_ADDR === undefined
      ? undefined
      : createRpcClient(TemplatesDefinition, config.TEMPLATES_ADDR);
  const broadcasts =
    config.BROADCASTS_ADDR === undefined
      ? undefined
      : createRpcClient(BroadcastsDefinition, config.BROADCASTS_ADDR);
  const event_log =
    config.WEBHOOKS_ADDR === undefined
      ? undefined
      : createRpcClient(EventLogDefinition, config.WEBHOOKS_ADDR);
  const now = (): Date => new Date();
  const delay_ms = config.GAP_REPAIR_DELAY_MS;
  const rateCards = createRateCards(mongo.db);
  const lateEntries = createLateEntries(mongo.db);
  const ledgerMonths = createLedgerMonths(mongo.db);
  const messages = createMessages(mongo.db, delay_ms, {
    end: () => ledgerMonths.end(),
    addLate: addLate({ lateEntries, rateCards, now }),
  });
  const contacts = createContacts(mongo.db);
  const conversations = createConversations(mongo.db);
  const bus = createBus(config, 'messaging', log);
  const recent = createRecentContacts();
  const overdue = createOverdueRecords(mongo.db);
  const losses = createLosses(redis, now);
  const applyToMessages = applyStatuses(messages, losses);
  const conversing = { contacts, recentConversations: createRecentConversations() };
  const takeContacts = applyContacts({ ...conversing, recent, now });
  const takeStatuses = gathered(STATUSES_APART_MS, async (batch: Received<Statuses>[]) => {
    await applyToMessages(batch);
    await noteFacts(conversing, factsOfStatuses(batch));
  });
  bus.consume(topics.status, 'messaging-status', takeStatuses);
  // Another process may have stored and removed contacts of partitions that come back.
  bus.consume(topics.contact, 'messaging-contact', takeContacts, () => recent.clear());
  bus.consume(topics.outage, 'messaging-outage', applyOutages({ overdue, delay_ms, now, log }));
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
    conversations,
    rateCards,
    blockLists: createBlockLists(upstream, log),
    lateEntries,
    ledgerMonths,
    ledgerEntries: createLedgerEntries(mongo.db),
    ledgerDays: createLedgerDays(mongo.db),
    categories: createCategoryLookup(templates?.rpc, log),
    ledgerReads: createPool(
      { server: 'ledger', reason: 'reads', holder: 'partner', max: LEDGER_READS_MAX },
      log,
    ),
    close_days: config.LEDGER_CLOSE_DAYS,
    refusedTokens: createRefusedTokens(mongo.db),
    sendClaims: createSendClaims(mongo.db, now),
    templates: templates?.rpc,
    broadcasts: broadcasts?.rpc,
    eventLog: event_log?.rpc,
    directory: directory.rpc,
    searches: createPool(
      { server: 'timeline', reason: 'numbers', holder: 'partner', max: SEARCHED_MAX },
      log,
    ),
    recordReads: createRecordReads(log),
    messageList: createMessageList(mongo.db),
    dailyCounts: createDailyCounts(mongo.db),
    files,
    transfer,
    downloads: createTransferPool(
      { server: 'media', reason: 'downloads', holder: 'partner', max: DOWNLOADS_MAX },
      log,
    ),
    downloadRate: createByteRate(DOWNLOAD_BYTES_PER_S),
    looks: createPool(
      { server: 'media', reason: 'looks', holder: 'partner', max: LOOKS_MAX, share: LOOKS_SHARE },
      log,
    ),
    exportRate: createByteRate(EXPORT_BYTES_PER_S),
    mediaHosts: createMediaHosts(config),
    now,
    recent,
    log,
  };
  const repair = createGapRepair({
    ...deps,
    overdue,
    bus,
    redis,
    quota: createHistoryQuota(redis, config.GAP_REPAIR_PER_MINUTE),
    losses,
    delay_ms,
  });
  const rpc = createRpcServer(
    { host: config.GRPC_HOST, port: config.GRPC_PORT },
    [
      implement(MessagingDefinition, createMessagingHandlers(deps)),
      implement(LedgerDefinition, createLedgerHandlers(deps)),
      implement(RatesDefinition, createRatesHandlers(deps)),
      createPurge({ db: mongo.db, rows: purgeRows, owners: ownersFrom(directory.rpc), log }),
    ],
    log,
  );
  const records: Component = {
    name: 'records',
    start: () => contacts.start(new Date()),
    stop: async () => {
      const noted = noteLate(conversing).catch((error: unknown) =>
        log.warn({ err: error }, 'failed to store contacts'),
      );
      await Promise.all([noted, messages.drain(), contacts.drain()]);
    },
  };
  return {
    name: 'messaging',
    components: [
      redis,
      mongo,
      records,
      upstream,
      files,
      transfer,
      directory,
      alerts,
      ...(templates ? [templates] : []),
      ...(broadcasts ? [broadcasts] : []),
      ...(event_log ? [event_log] : []),
      bus,
      ...(delay_ms > 0 ? [repair] : []),
      createPoller('late contacts', LATE_MS, () => noteLate(conversing), log),
      createClosing(deps),
      createSpendAlerts({ ...deps, alerts: alerts.rpc }),
      rpc,
    ],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    onReady: (ready) => rpc.health.set(ready),
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
  };
}
