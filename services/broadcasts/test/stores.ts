// A database of its own for each test file, on the engine of the tests; dropped afterwards.
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { createBroadcastStore } from '../src/records/broadcasts';
import { createChunkStore } from '../src/records/chunks';
import { indexes } from '../src/collections';
import { createTemplateStateStore } from '../src/template/store';
import { testDatabase } from '../../../test/testkit/database';

export const unique = (prefix: string): string => `${prefix}${randomBytes(5).toString('hex')}`;

export function openStores() {
  const db = testDatabase(indexes, {
    retryWrites: false,
    writeConcern: { w: 'majority', journal: true },
    monitorCommands: true,
  });
  const { client } = db;
  const asked = { commands: 0, documents: 0 };
  client.on('commandSucceeded', ({ reply }) => {
    asked.commands += 1;
    const { cursor } = reply as { cursor?: { firstBatch?: unknown[]; nextBatch?: unknown[] } };
    asked.documents += (cursor?.firstBatch ?? cursor?.nextBatch ?? []).length;
  });
  return {
    db,
    /** The commands to the database so far, and the documents in their answers. */
    asked: () => ({ ...asked }),
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
