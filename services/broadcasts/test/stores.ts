// A database of its own for each test file, on the engine of the tests; dropped afterwards.
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { createIndexes } from '@bmg/common/mongo';
import { createBroadcastStore } from '../src/records/broadcasts';
import { createChunkStore } from '../src/records/chunks';
import { indexes } from '../src/collections';
import { createTemplateStateStore } from '../src/template/store';

export const unique = (prefix: string): string => `${prefix}${randomBytes(5).toString('hex')}`;

const setting = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: start the engines before this test`);
  return value;
};

export interface QueryCounts {
  commands: number;
  /** Rounds of a runner that looks for work: only those ask for due broadcasts. */
  looks: number;
  /** Returned in cursors. */
  documents: number;
}

export function openStores() {
  const client = new MongoClient(setting('MONGO_URL'), {
    retryWrites: false,
    ignoreUndefined: true,
    writeConcern: { w: 'majority', journal: true },
    monitorCommands: true,
  });
  const asked: QueryCounts = { commands: 0, looks: 0, documents: 0 };
  const looking = new Set<number>();
  client.on('commandStarted', ({ command, requestId }) => {
    const { filter } = command as { filter?: object };
    if (filter && 'scheduled_at' in filter) looking.add(requestId);
  });
  client.on('commandSucceeded', ({ reply, requestId }) => {
    asked.commands += 1;
    if (looking.delete(requestId)) asked.looks += 1;
    const { cursor } = reply as { cursor?: { firstBatch?: unknown[]; nextBatch?: unknown[] } };
    asked.documents += (cursor?.firstBatch ?? cursor?.nextBatch ?? []).length;
  });
  const db = client.db(unique('broadcasts_test_'));
  beforeAll(() => createIndexes(db, indexes));
  afterAll(async () => {
    await db.dropDatabase();
    await client.close();
  });
  return {
    db,
    /** The commands to the database so far. */
    asked: (): QueryCounts => ({ ...asked }),
    broadcasts: createBroadcastStore(db),
    chunks: createChunkStore(db),
    states: createTemplateStateStore(db),
  };
}

export type Stores = ReturnType<typeof openStores>;

export function openTestRedis() {
  const redis = new Redis(setting('REDIS_URL'), { keyPrefix: unique('t:') });
  return { redis, close: () => redis.disconnect() };
}
