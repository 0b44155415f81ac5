// The indexes of a service: compares those that it declares with those that its database has,
// creates missing ones when it starts, and applies all differences on request.
import { type IndexDescription, MongoServerError, type Db } from 'mongodb';
import type { Logger } from '../telemetry';

/** The indexes of a service by collection, except those on `_id`, which always exist. */
export type Indexes = Record<string, readonly IndexDescription[]>;

/** An index as the server lists it. */
export type StoredIndex = IndexDescription & { name: string };

interface DifferingOption {
  name: string;
  /** JSON; empty for an option that is absent. */
  declared: string;
  stored: string;
}

export type IndexDifference = { collection: string } & (
  | { state: 'missing'; declared: IndexDescription }
  | {
      state: 'different';
      declared: IndexDescription;
      stored: StoredIndex;
      options: DifferingOption[];
    }
  | { state: 'obsolete'; stored: StoredIndex }
);

const OPTIONS = [
  'unique',
  'sparse',
  'expireAfterSeconds',
  'partialFilterExpression',
  'collation',
  'hidden',
] as const;

export function compareIndexes(
  declared: Indexes,
  stored: Record<string, readonly StoredIndex[]>,
): IndexDifference[] {
  const collections = [...new Set([...Object.keys(declared), ...Object.keys(stored)])].sort();
  return collections.flatMap((collection): IndexDifference[] => {
    const left = new Set((stored[collection] ?? []).filter(({ name }) => name !== '_id_'));
    const found = (declared[collection] ?? []).flatMap((wanted): IndexDifference[] => {
      const same = [...left].filter(({ key }) => isSameKey(key, wanted.key));
      const present = same.find((one) => differingOptions(wanted, one).length === 0) ?? same[0];
      if (!present) return [{ collection, state: 'missing', declared: wanted }];
      left.delete(present);
      const options = differingOptions(wanted, present);
      return options.length === 0
        ? []
        : [{ collection, state: 'different', declared: wanted, stored: present, options }];
    });
    const rest = [...left].map((one) => ({ collection, state: 'obsolete' as const, stored: one }));
    return [...found, ...rest];
  });
}

const isSameKey = (one: object, other: object): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const differingOptions = (wanted: IndexDescription, present: IndexDescription): DifferingOption[] =>
  OPTIONS.map((name) => ({
    name,
    declared: textOf(wanted[name]),
    stored: textOf(present[name]),
  })).filter(({ declared, stored }) => declared !== stored);

/** An option that is `false` is the same as an absent one. */
const textOf = (value: unknown): string =>
  value === undefined || value === false ? '' : JSON.stringify(value);

/** True if the server can give the stored index the declared expiry in place. */
const differsInExpiry = (options: readonly DifferingOption[]): boolean =>
  options.length === 1 && options[0]?.name === 'expireAfterSeconds' && options[0].declared !== '';

/** The fields in their order, such as `partner_id: 1, at: -1`. */
export const keyText = (key: object): string =>
  Object.entries(key)
    .map(([field, order]) => `${field}: ${order}`)
    .join(', ');

/** An index on the same fields exists with other options, or one of the same name on other fields. */
const CONFLICTS = new Set<unknown>([85, 86]);

const isConflict = (error: unknown): boolean =>
  CONFLICTS.has((error as { code?: unknown } | null)?.code);

/**
 * Safe to repeat; waits until the server has built them. An index that exists with another expiry
 * gets the declared one. Any other difference stays until the operator applies it: the service works
 * with the index that exists, and must not fail to start because of it.
 */
export async function createIndexes(
  db: Db,
  indexes: Indexes,
  log?: Pick<Logger, 'info' | 'warn'>,
): Promise<void> {
  for (const [name, descriptions] of Object.entries(indexes)) {
    try {
      await db.collection(name).createIndexes([...descriptions]);
    } catch (error) {
      if (!isConflict(error)) throw error;
      for (const one of descriptions) await createOrChange(db, name, one, log);
    }
  }
}

async function createOrChange(
  db: Db,
  name: string,
  wanted: IndexDescription,
  log: Pick<Logger, 'info' | 'warn'> | undefined,
): Promise<void> {
  try {
    await db.collection(name).createIndexes([wanted]);
  } catch (error) {
    if (!isConflict(error)) throw error;
    const stored = await indexesOf(db, name);
    const same = stored.filter(({ key }) => isSameKey(key, wanted.key));
    // It may have a name of its own since it was replaced.
    if (same.some((one) => differingOptions(wanted, one).length === 0)) return;
    const index = `${name}: ${keyText(wanted.key)}`;
    const [present] = same;
    if (!present || !differsInExpiry(differingOptions(wanted, present))) {
      log?.warn({ err: error, index }, 'failed to create an index: another one is in its place');
      return;
    }
    await changeExpiry(db, name, wanted, present);
    log?.info({ index, seconds: wanted.expireAfterSeconds }, 'changed the expiry of an index');
  }
}

const changeExpiry = (
  db: Db,
  collection: string,
  { expireAfterSeconds }: IndexDescription,
  { name }: StoredIndex,
): Promise<unknown> => db.command({ collMod: collection, index: { name, expireAfterSeconds } });

const indexesOf = async (db: Db, collection: string): Promise<StoredIndex[]> =>
  (await db.collection(collection).indexes()) as StoredIndex[];

export async function findDifferences(db: Db, declared: Indexes): Promise<IndexDifference[]> {
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  const stored: Record<string, StoredIndex[]> = {};
  for (const { name } of collections) {
    if (!name.startsWith('system.')) stored[name] = await indexesOf(db, name);
  }
  return compareIndexes(declared, stored);
}

export interface ApplyOptions {
  /** Also drops and builds indexes that MongoDB does not let stand beside their replacement. */
  rebuild: boolean;
  drop_obsolete: boolean;
}

export interface IndexChange {
  collection: string;
  key: string;
  outcome:
    'created' | 'expiry_changed' | 'replaced' | 'rebuilt' | 'dropped' | 'needs_rebuild' | 'failed';
  /** Why it failed; empty otherwise. */
  reason: string;
}

/** Builds all new indexes before it drops an obsolete one. A refused change does not end the others. */
export async function applyIndexes(
  db: Db,
  declared: Indexes,
  options: ApplyOptions,
): Promise<IndexChange[]> {
  const differences = await findDifferences(db, declared);
  const changes: IndexChange[] = [];
  for (const state of ['missing', 'different', 'obsolete'] as const) {
    for (const one of differences.filter((found) => found.state === state)) {
      if (state === 'obsolete' && !options.drop_obsolete) continue;
      const { key } = one.state === 'obsolete' ? one.stored : one.declared;
      const change = { collection: one.collection, key: keyText(key), reason: '' };
      try {
        changes.push({ ...change, outcome: await applyOne(db, one, options) });
      } catch (error) {
        if (!(error instanceof MongoServerError)) throw error;
        changes.push({ ...change, outcome: 'failed', reason: error.message });
      }
    }
  }
  return changes;
}

async function applyOne(
  db: Db,
  one: IndexDifference,
  { rebuild }: ApplyOptions,
): Promise<IndexChange['outcome']> {
  const collection = db.collection(one.collection);
  if (one.state === 'missing') {
    await collection.createIndexes([one.declared]);
    return 'created';
  }
  if (one.state === 'obsolete') {
    await collection.dropIndex(one.stored.name);
    return 'dropped';
  }
  const { declared, stored } = one;
  if (differsInExpiry(one.options)) {
    await changeExpiry(db, one.collection, declared, stored);
    return 'expiry_changed';
  }
  try {
    await collection.createIndexes([{ ...declared, name: otherName(stored.name) }]);
  } catch (error) {
    if (!isConflict(error)) throw error;
    if (!rebuild) return 'needs_rebuild';
    await collection.dropIndex(stored.name);
    await collection.createIndexes([declared]);
    return 'rebuilt';
  }
  await collection.dropIndex(stored.name);
  return 'replaced';
}

/** `at_1` becomes `at_1_v2`, and that `at_1_v3`. */
const otherName = (name: string): string => {
  const [, base = name, version = '1'] = /^(.*)_v(\d+)$/.exec(name) ?? [];
  return `${base}_v${Number(version) + 1}`;
};
