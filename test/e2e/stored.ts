// Counts the documents in each collection of a mesh's services.
import { MongoClient } from 'mongodb';
import type { Mesh } from '../harness/shared-mesh';

/**
 * Collections that grow with every request, even a refused one (the audit log has attempts to change
 * something), or with retries of earlier events.
 */
const COUNTED_ANYWAY = /usage|attempts|audit/;

export interface Stored {
  count(): Promise<Record<string, number>>;
  close(): Promise<void>;
}

export async function openStored({ env }: Mesh): Promise<Stored> {
  const client = await MongoClient.connect(env['MONGO_URL'] as string);
  const prefix = env['MONGO_DATABASE_PREFIX'] as string;
  return {
    async count() {
      const { databases } = await client.db().admin().listDatabases();
      const counts: Record<string, number> = {};
      for (const { name } of databases.filter((one) => one.name.startsWith(prefix))) {
        for (const { name: collection } of await client.db(name).listCollections().toArray()) {
          if (COUNTED_ANYWAY.test(collection)) continue;
          counts[`${name.slice(prefix.length)}.${collection}`] = await client
            .db(name)
            .collection(collection)
            .countDocuments();
        }
      }
      return counts;
    },
    close: () => client.close(),
  };
}
