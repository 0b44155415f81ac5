// A database of its own for each test file, on the engine of the tests; dropped afterwards.
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { createBroadcastStore } from '../src/records/broadcasts';
import { createChunkStore } from '../src/records/chunks';
import { indexes } from '../src/collections';
import { createTemplateStateStore } from '../src/template/store';
import { testDatabase } from '../../../test/testkit/database';

export const unique = (prefix: string): string => `${prefix}${randomBytes(5).toString('hex')}`;

export interface QueryCounts {
  commands: number;
  /** Rounds of a runner that looks for work: only those ask for due broadcasts. */
  looks: number;
  /** Returned in cursors. */
  documents: number;
}

export function openStores() {
  const db = testDatabase(indexes, {
    retryWrites: false,
    writeConcern: { w: 'majority', journal: true },
    monitorCommands: true,
  });
  const { client } = db;
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
  const redis = new Redis(process.env['REDIS_URL'] as string, { keyPrefix: unique('t:') });
  return { redis, close: () => redis.disconnect() };
}
