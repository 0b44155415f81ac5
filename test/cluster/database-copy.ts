// A logical copy of all databases of the release, as mongodump makes it: documents, indexes and
// options.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { MongoClient, type Document, type IndexDescription } from 'mongodb';
import { CONTEXT, KUBECONFIG, KUBECTL } from './facts';
import { NAMESPACE } from './release';
import { until } from './run';

/** Instead of 27017, which another program of this machine may use. */
const LOCAL_PORT = 27_117;
const CONNECT_LIMIT_MS = 60_000;
const BATCH = 500;
/** MongoDB's own. */
const KEPT_OUT = ['admin', 'config', 'local'];

interface CollectionCopy {
  database: string;
  name: string;
  documents: Document[];
  indexes: IndexDescription[];
}

export type DatabaseCopy = CollectionCopy[];

/** Calls `work` with a client of the release's MongoDB. */
async function withMongo<T>(work: (client: MongoClient) => Promise<T>): Promise<T> {
  const forward = spawn(
    KUBECTL,
    [
      ...['--kubeconfig', KUBECONFIG, '--context', CONTEXT, '--namespace', NAMESPACE],
      ...['port-forward', 'service/bmg-mongo', `${LOCAL_PORT}:27017`],
    ],
    { stdio: 'ignore' },
  );
  const client = new MongoClient(`mongodb://127.0.0.1:${LOCAL_PORT}/?directConnection=true`);
  try {
    await until('MongoDB does not answer', CONNECT_LIMIT_MS, () =>
      client.db('admin').command({ ping: 1 }),
    );
    return await work(client);
  } finally {
    await client.close();
    forward.kill();
    if (forward.exitCode === null) await once(forward, 'exit');
  }
}

export const copyDatabases = (): Promise<DatabaseCopy> =>
  withMongo(async (client) => {
    const copy: DatabaseCopy = [];
    const { databases } = await client.db('admin').admin().listDatabases();
    for (const { name: database } of databases) {
      if (KEPT_OUT.includes(database)) continue;
      const db = client.db(database);
      for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
        const collection = db.collection(name);
        const indexes = (await collection.indexes()) as IndexDescription[];
        // Values keep their BSON types: a Long must not come back as a Double.
        const raw = { promoteValues: false, promoteBuffers: false };
        copy.push({
          database,
          name,
          documents: await collection.find({}, raw).toArray(),
          indexes: indexes.filter(({ name: index }) => index !== '_id_'),
        });
      }
    }
    return copy;
  });

/** The server reports the version of an index, and does not take it. */
const withoutVersion = ({ v: _v, ...index }: IndexDescription & { v?: number }): IndexDescription =>
  index;

/** Replaces what is there. */
export const restoreDatabases = (copy: DatabaseCopy): Promise<void> =>
  withMongo(async (client) => {
    for (const { database, name, documents, indexes } of copy) {
      const collection = client.db(database).collection(name);
      await collection.drop().catch(() => undefined);
      await client.db(database).createCollection(name);
      if (indexes.length > 0) {
        await collection.createIndexes(indexes.map(withoutVersion));
      }
      for (let start = 0; start < documents.length; start += BATCH) {
        await collection.insertMany(documents.slice(start, start + BATCH));
      }
    }
  });

export const documentsIn = (copy: DatabaseCopy): number =>
  copy.reduce((sum, { documents }) => sum + documents.length, 0);
