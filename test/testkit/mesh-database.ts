// A database of its own for a file of mesh tests.
import { randomBytes } from 'node:crypto';
import { MongoClient, type Db } from 'mongodb';
import { createIndexes, type Indexes } from '@bmg/common/mongo';

export interface MeshDatabase {
  client: MongoClient;
  db: Db;
  /** For `beforeAll`. */
  prepare(): Promise<void>;
  /** For `afterAll`. */
  drop(): Promise<void>;
}

export function meshDatabase(name: string, indexes: Indexes = {}): MeshDatabase {
  const client = new MongoClient(process.env['MONGO_URL'] as string, { monitorCommands: true });
  const db = client.db(`${name}_${randomBytes(5).toString('hex')}`);
  return {
    client,
    db,
    async prepare() {
      await createIndexes(db, indexes);
    },
    async drop() {
      await db.dropDatabase();
      await client.close();
    },
  };
}
