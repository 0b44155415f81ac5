// A logical copy of all databases of the release, in files: the documents of a collection in BSON,
// and its indexes beside them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BSON, MongoClient, type IndexDescription } from 'mongodb';
import { CONTEXT, KUBECONFIG, KUBECTL } from './facts';
import { NAMESPACE } from './release';
import { until, words } from './run';

/** Instead of 27017, which another program of this machine may use. */
const LOCAL_PORT = 27_117;
const CONNECT_LIMIT_MS = 60_000;
const BATCH = 500;
/** MongoDB's own. */
const KEPT_OUT = ['admin', 'config', 'local'];

/** Calls `work` with a client of the release's MongoDB. */
async function withMongo<T>(work: (client: MongoClient) => Promise<T>): Promise<T> {
  const forward = spawn(
    KUBECTL,
    [
      ...words`--kubeconfig ${KUBECONFIG} --context ${CONTEXT} --namespace ${NAMESPACE}`,
      ...words`port-forward service/bmg-mongo ${LOCAL_PORT}:27017`,
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

/** Replaces the copy in the folder. Returns how many documents it has. */
export const copyDatabases = (folder: string): Promise<number> =>
  withMongo(async (client) => {
    rmSync(folder, { recursive: true, force: true });
    let count = 0;
    const { databases } = await client.db('admin').admin().listDatabases();
    for (const { name: database } of databases) {
      if (KEPT_OUT.includes(database)) continue;
      const db = client.db(database);
      mkdirSync(join(folder, database), { recursive: true });
      for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
        const collection = db.collection(name);
        const documents = await collection.find({}, { raw: true }).toArray();
        count += documents.length;
        const file = join(folder, database, name);
        writeFileSync(`${file}.bson`, Buffer.concat(documents as unknown as Buffer[]));
        const indexes = (await collection.indexes()).filter(({ name: index }) => index !== '_id_');
        writeFileSync(`${file}.json`, JSON.stringify(indexes));
      }
    }
    return count;
  });

/** The server reports the version of an index, and does not take it. */
const withoutVersion = ({ v: _v, ...index }: IndexDescription & { v?: number }): IndexDescription =>
  index;

/** Values keep their BSON types: a Long must not come back as a Double. */
function documentsOf(bytes: Buffer): BSON.Document[] {
  const documents: BSON.Document[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at)) {
    const one = bytes.subarray(at, at + bytes.readInt32LE(at));
    documents.push(BSON.deserialize(one, { promoteValues: false }));
  }
  return documents;
}

/** Replaces what is there. */
export const restoreDatabases = (folder: string): Promise<void> =>
  withMongo(async (client) => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((one) => one.endsWith('.bson'))) {
      const [database, name] = file.replace(/\.bson$/, '').split('/') as [string, string];
      const collection = client.db(database).collection(name);
      await collection.drop().catch(() => undefined);
      await client.db(database).createCollection(name);
      const description = join(folder, database, `${name}.json`);
      const indexes = JSON.parse(readFileSync(description, 'utf8')) as IndexDescription[];
      if (indexes.length > 0) await collection.createIndexes(indexes.map(withoutVersion));
      const documents = documentsOf(readFileSync(join(folder, file)));
      for (let start = 0; start < documents.length; start += BATCH) {
        await collection.insertMany(documents.slice(start, start + BATCH));
      }
    }
  });
