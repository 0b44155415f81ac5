// A service's own database: connect (waiting for the server), ping, close.
import { MongoClient, type Db, type MongoClientOptions } from 'mongodb';
import { authorities } from '../config';
import { waitFor, type Component } from '../lifecycle';
import type { Logger } from '../telemetry';
import './driver-fixes';
import {
  type IndexDifference,
  type Indexes,
  applyIndexes,
  createIndexes,
  findDifferences,
  type ApplyOptions,
  type IndexChange,
} from './indexes';
import { WORK_CLASSES } from './work-classes';

/** All timeouts are below a request's, so that its answer names the cause. */
const SELECT_LIMIT_MS = 3_000;
const CONNECT_LIMIT_MS = 3_000;
const POOL_WAIT_LIMIT_MS = 5_000;

/** A database by the class of work; only after start. */
export interface Databases {
  readonly db: Db;
  readonly background: Db;
}

export interface Database extends Databases, Component {
  readonly indexes: {
    /** Between the stored indexes and the declared ones. */
    differences(): Promise<IndexDifference[]>;
    apply(options: ApplyOptions): Promise<IndexChange[]>;
  };
}

export interface MongoSettings {
  MONGO_URL: string;
  MONGO_TLS_CA_FILE?: string | undefined;
  MONGO_DATABASE_PREFIX: string;
}

/** `name` is the service's own. Its indexes are created as soon as the server answers. */
export function openMongo(
  settings: MongoSettings,
  name: string,
  log: Logger,
  indexes: Indexes,
): Database {
  const options: MongoClientOptions = {
    ...tlsOf(settings),
    serverSelectionTimeoutMS: SELECT_LIMIT_MS,
    connectTimeoutMS: CONNECT_LIMIT_MS,
    waitQueueTimeoutMS: POOL_WAIT_LIMIT_MS,
    // An acknowledged write survives the loss of a node and a crash.
    writeConcern: { w: 'majority', journal: true },
    ignoreUndefined: true,
  };
  const { MONGO_URL: url } = settings;
  const client = new MongoClient(url, { ...options, ...WORK_CLASSES.interactive });
  const background = new LazyClient(url, { ...options, ...WORK_CLASSES.background });
  const database = settings.MONGO_DATABASE_PREFIX + name;
  const db = client.db(database);
  const stopped = new AbortController();
  /** On a connection of its own, since a large index takes longer to build than any command may. */
  const withBuilder = async <T>(
    work: (db: Db) => Promise<T>,
    signal: AbortSignal = stopped.signal,
  ): Promise<T> => {
    const builder = new MongoClient(url, { ...options, ...WORK_CLASSES.index_builds });
    const close = (): void => void builder.close().catch(() => undefined);
    signal.addEventListener('abort', close);
    try {
      return await work(builder.db(database));
    } finally {
      signal.removeEventListener('abort', close);
      await builder.close();
    }
  };
  const open = (signal: AbortSignal): Promise<void> =>
    waitFor(
      'MongoDB',
      async () => {
        // Explicit on every attempt: the client would otherwise reuse the state of a failed one for
        // ever.
        await client.connect();
        await withBuilder((builder) => createIndexes(builder, indexes, log), signal);
      },
      log,
      signal,
    );
  return {
    name: 'mongo',
    db,
    background: background.db(database),
    start: open,
    prepare: open,
    indexes: {
      differences: () => findDifferences(db, indexes),
      apply: (wanted) => withBuilder((builder) => applyIndexes(builder, indexes, wanted)),
    },
    stop: async () => {
      stopped.abort();
      await Promise.all([client.close(), background.close()]);
    },
    check: async () => {
      await db.command({ ping: 1 });
    },
  };
}

/** Connects at its first command, and tries again at the next one if that fails. */
class LazyClient extends MongoClient {
  declare topology: undefined;

  override async connect(): Promise<this> {
    try {
      return await super.connect();
    } catch (error) {
      // The driver would otherwise reuse the state of the failed attempt for ever.
      this.topology = undefined;
      throw error;
    }
  }
}

/** TLS itself is an option of the URL: `tls=true`, or the scheme `mongodb+srv`. */
function tlsOf({ MONGO_URL, MONGO_TLS_CA_FILE }: MongoSettings): { ca?: string } {
  const isOn = /^mongodb\+srv:|[?&](tls|ssl)=true\b/.test(MONGO_URL);
  const ca = authorities('MONGO_TLS_CA_FILE', MONGO_TLS_CA_FILE, {
    by: 'tls=true in MONGO_URL',
    isOn,
  });
  return ca === undefined ? {} : { ca };
}
