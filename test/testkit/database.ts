// A database of its own for each test file, on the engine of the tests; dropped afterwards.
import { randomUUID } from 'node:crypto';
import { MongoClient, type Db, type MongoClientOptions } from 'mongodb';
import { createIndexes, type Indexes } from '@bmg/common/mongo';

export function testDatabase(indexes: Indexes = {}, options: MongoClientOptions = {}): Db {
  const client = new MongoClient(process.env['MONGO_URL'] as string, {
    ignoreUndefined: true,
    ...options,
  });
  const db = client.db(`test-${randomUUID()}`);
  beforeAll(() => createIndexes(db, indexes));
  afterAll(async () => {
    await db.dropDatabase();
    await client.close();
  });
  return db;
}

/** Deletes all documents; the indexes stay. */
export async function emptyDatabase(db: Db): Promise<void> {
  for (const collection of await db.collections()) await collection.deleteMany({});
}
