// Creates the indexes that a service declares, and finds the ones that are missing.
import type { Db, IndexDescription } from 'mongodb';

/** The indexes of a service by collection, except those on `_id`, which always exist. */
export type Indexes = Record<string, readonly IndexDescription[]>;

/** Safe to repeat; waits until the server has built them. */
export async function createIndexes(db: Db, indexes: Indexes): Promise<void> {
  for (const [collection, descriptions] of Object.entries(indexes)) {
    await db.collection(collection).createIndexes([...descriptions]);
  }
}

/** The declared indexes that the database lacks, each as `collection: field, field`. */
export async function missingIndexes(db: Db, indexes: Indexes): Promise<string[]> {
  const missing: string[] = [];
  for (const [collection, descriptions] of Object.entries(indexes)) {
    const found = await db.collection(collection).indexes();
    const present = new Set(found.map(({ key }) => fieldsOf(key as object)));
    for (const { key } of descriptions) {
      const fields = fieldsOf(key);
      if (!present.has(fields)) missing.push(`${collection}: ${fields}`);
    }
  }
  return missing;
}

const fieldsOf = (key: object): string => Object.keys(key).join(', ');
