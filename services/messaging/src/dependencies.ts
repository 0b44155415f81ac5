// Opens the engines and clients, and makes of them what the features share.
import { createBus, type Bus } from '@bmg/common/bus';
import { createCredentials, createVersions, type Credentials } from '@bmg/common/directory';
import {
  createFileFetcher,
  createTransfer,
  type FileFetcher,
  type Transfer,
} from '@bmg/common/files';
import { createOnce, type Once } from '@bmg/common/idempotency';
import { openMongo, type Database } from '@bmg/common/mongo';
import { openRedis, type RedisConnection } from '@bmg/common/redis';
import type { Client } from '@bmg/common/rpc';
import type { Kit } from '@bmg/common/service';
import type { Logger } from '@bmg/common/telemetry';
import { createUpstream, type Upstream } from '@bmg/common/upstream';
import { AlertsDefinition } from '@bmg/proto/alerts';
import { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import { TemplatesDefinition } from '@bmg/proto/templates';
import { EventLogDefinition } from '@bmg/proto/webhooks';
import { createStores, indexes } from './collections';
import type { Config } from './config';
import { createRecentContacts } from './contacts';
import { createRecordReads } from './messages';
import { failingAsNotSent } from './send';
import { createSendJournal } from './send-journal';

export interface Dependencies extends ReturnType<typeof createStores> {
  config: Config;
  database: Database;
  redis: RedisConnection;
  bus: Bus;
  upstream: Upstream;
  files: FileFetcher;
  transfer: Transfer;
  directory: Client<DirectoryDefinition>;
  alerts: Client<AlertsDefinition>;
  /** Undefined without an address, like the two below: their callers do without. */
  templates: Client<TemplatesDefinition> | undefined;
  broadcasts: Client<BroadcastsDefinition> | undefined;
  eventLog: Client<EventLogDefinition> | undefined;
  credentials: Credentials;
  once: Once;
  recent: ReturnType<typeof createRecentContacts>;
  recordReads: ReturnType<typeof createRecordReads>;
  sendJournal: ReturnType<typeof createSendJournal>;
  now: () => Date;
  log: Logger;
}

/**
 * The methods that a function needs of each dependency: `Needs<{ messages: 'find' | 'record' }>`.
 */
export type Needs<
  Methods extends { [Name in keyof Dependencies]?: keyof NonNullable<Dependencies[Name]> },
> = {
  [Name in keyof Methods & keyof Dependencies]:
    | Pick<NonNullable<Dependencies[Name]>, Methods[Name] & keyof NonNullable<Dependencies[Name]>>
    | Extract<Dependencies[Name], undefined>;
};

export function openDependencies({ config, log, use, useBus, connect }: Kit<Config>): Dependencies {
  const now = (): Date => new Date();
  const redis = use(openRedis(config, log));
  const database = use(openMongo(config, 'messaging', log, indexes));
  const stores = createStores(database, config.GAP_REPAIR_DELAY_MS, now);
  const directory = connect(DirectoryDefinition, config.ONBOARDING_ADDR);
  return {
    ...stores,
    config,
    database,
    redis,
    bus: useBus(createBus(config, 'messaging', log)),
    upstream: use(createUpstream(config)),
    files: use(createFileFetcher(config)),
    transfer: use(createTransfer(config)),
    directory,
    alerts: connect(AlertsDefinition, config.ONBOARDING_ADDR),
    templates: connect(TemplatesDefinition, config.TEMPLATES_ADDR),
    broadcasts: connect(BroadcastsDefinition, config.BROADCASTS_ADDR),
    eventLog: connect(EventLogDefinition, config.WEBHOOKS_ADDR),
    credentials: failingAsNotSent(createCredentials(directory, createVersions(redis, log))),
    once: createOnce({ db: database.db, now, log }),
    recent: createRecentContacts(),
    recordReads: createRecordReads(log),
    sendJournal: createSendJournal({
      dir: config.SEND_JOURNAL_DIR,
      sendClaims: stores.sendClaims,
      log,
    }),
    now,
    log,
  };
}
