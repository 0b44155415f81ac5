// The dependencies that the features share: the stores, the upstream, credentials, and the services
// that messaging calls.
import type { Bus } from '@bmg/common/bus';
import { createCredentials, createVersions, type Credentials } from '@bmg/common/directory';
import type { FileFetcher, Transfer } from '@bmg/common/files';
import type { Database } from '@bmg/common/mongo';
import type { RedisConnection } from '@bmg/common/redis';
import type { Logger } from '@bmg/common/telemetry';
import type { Upstream } from '@bmg/common/upstream';
import type { Config } from './config';
import { createRecentContacts, type RecentContacts } from './contacts/recent-contacts';
import type { Neighbours } from './neighbours';
import { createSendJournal } from './send-journal/journal';
import { createRecordReads, type RecordReads } from './messages/record-reads';
import { failingAsNotSent } from './send/outcome-errors';
import { createStores, type Stores } from './collections';

export interface Engines {
  mongo: Database;
  redis: RedisConnection;
  bus: Bus;
  upstream: Upstream;
  files: FileFetcher;
  transfer: Transfer;
}

export interface Dependencies extends Stores, Neighbours, Pick<Engines, SharedEngine> {
  credentials: Credentials;
  recent: RecentContacts;
  recordReads: RecordReads;
  sendJournal: ReturnType<typeof createSendJournal>;
  now: () => Date;
  log: Logger;
}

type SharedEngine = 'upstream' | 'files' | 'transfer';

export function createDependencies(
  config: Config,
  { mongo, redis, upstream, files, transfer }: Engines,
  neighbours: Neighbours,
  log: Logger,
): Dependencies {
  const now = (): Date => new Date();
  const credentials = createCredentials(neighbours.directory, createVersions(redis, log));
  const stores = createStores(mongo.db, config.GAP_REPAIR_DELAY_MS, now);
  return {
    ...stores,
    ...neighbours,
    credentials: failingAsNotSent(credentials),
    recent: createRecentContacts(),
    recordReads: createRecordReads(log),
    sendJournal: createSendJournal({
      dir: config.SEND_JOURNAL_DIR,
      sendClaims: stores.sendClaims,
      log,
    }),
    upstream,
    files,
    transfer,
    now,
    log,
  };
}
