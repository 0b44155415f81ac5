// Reads and changes what a mesh's services have stored.
import { MongoClient } from 'mongodb';
import type { Mesh } from '../harness/shared-mesh';

/**
 * Collections that grow with every request, even a refused one (the audit log has attempts to
 * change something), or with retries of earlier events.
 */
const COUNTED_ANYWAY = /usage|attempts|audit/;

export interface Stored {
  /**
   * Documents by collection; of waiting deliveries, which end by themselves, those of this partner
   * only.
   */
  count(): Promise<Record<string, number>>;
  close(): Promise<void>;
}

export async function openStored({ env }: Mesh, partner_id: string): Promise<Stored> {
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
            .countDocuments(collection === 'deliveries' ? { partner_id } : {});
        }
      }
      return counts;
    },
    close: () => client.close(),
  };
}

/** Every document of the mesh's databases, as text. */
export async function storedTexts({ env }: Pick<Mesh, 'env'>): Promise<string[]> {
  const client = await MongoClient.connect(env['MONGO_URL'] as string);
  try {
    const { databases } = await client.db().admin().listDatabases();
    const ours = databases.filter(({ name }) =>
      name.startsWith(env['MONGO_DATABASE_PREFIX'] as string),
    );
    const texts: string[] = [];
    for (const { name } of ours) {
      for (const { name: collection } of await client.db(name).listCollections().toArray()) {
        for await (const document of client.db(name).collection(collection).find()) {
          texts.push(JSON.stringify(document));
        }
      }
    }
    return texts;
  } finally {
    await client.close();
  }
}

/** Changes a stored document: only time could otherwise. */
export async function setIn(
  { env }: Pick<Mesh, 'env'>,
  database: string,
  collection: string,
  _id: string,
  fields: object,
): Promise<void> {
  const client = await MongoClient.connect(env['MONGO_URL'] as string);
  try {
    const { matchedCount } = await client
      .db(`${env['MONGO_DATABASE_PREFIX']}${database}`)
      .collection<{ _id: string }>(collection)
      .updateOne({ _id }, { $set: fields });
    if (matchedCount !== 1) throw new Error(`no document ${_id} in ${database}.${collection}`);
  } finally {
    await client.close();
  }
}
