// Reads and changes what a mesh's services have stored.
import { MongoClient, type Collection, type Db } from 'mongodb';

/** The settings of a mesh, or those of its processes. */
interface Place {
  env: NodeJS.ProcessEnv;
}

async function withClient<T>({ env }: Place, use: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = await MongoClient.connect(env['MONGO_URL'] as string);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** Opens the database of a service for one use. */
export const withDatabase = <T>(
  place: Place,
  service: string,
  use: (db: Db) => Promise<T>,
): Promise<T> =>
  withClient(place, (client) =>
    use(client.db(`${place.env['MONGO_DATABASE_PREFIX'] ?? ''}${service}`)),
  );

/** Every collection of the mesh, with its name: `database.collection`. */
async function* collectionsOf(
  { env }: Place,
  client: MongoClient,
): AsyncGenerator<[place: string, collection: Collection]> {
  const prefix = env['MONGO_DATABASE_PREFIX'] as string;
  const { databases } = await client.db().admin().listDatabases();
  for (const { name } of databases.filter((one) => one.name.startsWith(prefix))) {
    for (const collection of await client.db(name).collections()) {
      yield [`${name.slice(prefix.length)}.${collection.collectionName}`, collection];
    }
  }
}

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

export async function openStored(place: Place, partner_id: string): Promise<Stored> {
  const client = await MongoClient.connect(place.env['MONGO_URL'] as string);
  return {
    async count() {
      const counts: Record<string, number> = {};
      for await (const [name, collection] of collectionsOf(place, client)) {
        if (COUNTED_ANYWAY.test(collection.collectionName)) continue;
        const own = collection.collectionName === 'deliveries' ? { partner_id } : {};
        counts[name] = await collection.countDocuments(own);
      }
      return counts;
    },
    close: () => client.close(),
  };
}

/** Every document of the mesh's databases, as text, with the `database.collection` that has it. */
export const storedDocuments = (place: Place): Promise<Array<[place: string, text: string]>> =>
  withClient(place, async (client) => {
    const found: Array<[string, string]> = [];
    for await (const [name, collection] of collectionsOf(place, client)) {
      for await (const document of collection.find()) found.push([name, JSON.stringify(document)]);
    }
    return found;
  });

/** Every document of the mesh's databases, as text. */
export const storedTexts = async (place: Place): Promise<string[]> =>
  (await storedDocuments(place)).map(([, text]) => text);

/** Changes a stored document: only time could otherwise. */
export const setIn = (
  place: Place,
  database: string,
  collection: string,
  _id: string,
  fields: object,
): Promise<void> =>
  withDatabase(place, database, async (db) => {
    const { matchedCount } = await db
      .collection<{ _id: string }>(collection)
      .updateOne({ _id }, { $set: fields });
    if (matchedCount !== 1) throw new Error(`no document ${_id} in ${database}.${collection}`);
  });
