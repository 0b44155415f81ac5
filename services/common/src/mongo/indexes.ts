// Creates the indexes that a service declares, and finds those that are missing or differ.
import type { Collection, Db, IndexDescription } from 'mongodb';
import type { Logger } from '../telemetry';

/** The indexes of a service by collection, except those on `_id`, which always exist. */
export type Indexes = Record<string, readonly IndexDescription[]>;

/** An index on the same fields exists with other options, or one of the same name on other fields. */
const CONFLICTS = new Set<unknown>([85, 86]);

/**
 * Safe to repeat; waits until the server has built them. An index that exists with another expiry
 * gets the declared one. Any other difference stays, and `missingIndexes` names it: the service works
 * with the index that exists, and must not fail to start because of it.
 */
export async function createIndexes(
  db: Db,
  indexes: Indexes,
  log?: Pick<Logger, 'info' | 'warn'>,
): Promise<void> {
  for (const [name, descriptions] of Object.entries(indexes)) {
    const collection = db.collection(name);
    try {
      await collection.createIndexes([...descriptions]);
    } catch (error) {
      if (!isConflict(error)) throw error;
      for (const one of descriptions) await createOrChange(db, collection, one, log);
    }
  }
}

async function createOrChange(
  db: Db,
  collection: Collection,
  wanted: IndexDescription,
  log: Pick<Logger, 'info' | 'warn'> | undefined,
): Promise<void> {
  try {
    await collection.createIndexes([wanted]);
  } catch (error) {
    if (!isConflict(error)) throw error;
    const present = (await collection.indexes()).find(({ key }) => isSameKey(key, wanted.key));
    const index = `${collection.collectionName}: ${fieldsOf(wanted.key)}`;
    const differing = present ? differences(wanted, present) : [];
    const { expireAfterSeconds } = wanted;
    if (differing.join() !== EXPIRY || expireAfterSeconds === undefined) {
      log?.warn({ err: error, index }, 'failed to create an index: another one is in its place');
      return;
    }
    const change = { name: present?.name, expireAfterSeconds };
    await db.command({ collMod: collection.collectionName, index: change });
    log?.info({ index, seconds: expireAfterSeconds }, 'changed the expiry of an index');
  }
}

const isConflict = (error: unknown): boolean =>
  CONFLICTS.has((error as { code?: unknown } | null)?.code);

/** The declared indexes that the database lacks or has otherwise, each as `collection: field, field`. */
export async function missingIndexes(db: Db, indexes: Indexes): Promise<string[]> {
  const missing: string[] = [];
  for (const [collection, descriptions] of Object.entries(indexes)) {
    const found = await db.collection(collection).indexes();
    for (const wanted of descriptions) {
      const present = found.find(({ key }) => isSameKey(key as object, wanted.key));
      const index = `${collection}: ${fieldsOf(wanted.key)}`;
      if (!present) missing.push(index);
      else {
        const differing = differences(wanted, present);
        if (differing.length > 0) missing.push(`${index} (differs in ${differing.join(', ')})`);
      }
    }
  }
  return missing;
}

const EXPIRY = 'expireAfterSeconds';
const OPTIONS = ['unique', 'sparse', EXPIRY] as const;

const differences = (wanted: IndexDescription, present: object): string[] =>
  OPTIONS.filter((option) => {
    const [one, other] = [wanted[option], (present as IndexDescription)[option]];
    return option === EXPIRY ? one !== other : Boolean(one) !== Boolean(other);
  });

const isSameKey = (one: object, other: object): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const fieldsOf = (key: object): string => Object.keys(key).join(', ');
