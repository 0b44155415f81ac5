// What MongoDB refuses and the local stand-in accepts: an index on the same fields with other options.
import { MongoServerError, type Db, type IndexDescription } from 'mongodb';
import { compareIndexes } from './compare-indexes';
import { applyIndexes, createIndexes } from './indexes';

/** A database with one collection that refuses what MongoDB refuses. */
function databaseWith(...present: IndexDescription[]) {
  const stored = present.map((one) => ({ name: nameOf(one), ...one }));
  const refusal = (wanted: IndexDescription): MongoServerError | undefined => {
    const same = stored.find(({ name }) => name === nameOf(wanted));
    const { name: _name, ...options } = same ?? {};
    if (!same || JSON.stringify(options) === JSON.stringify(wanted)) return undefined;
    return new MongoServerError({ message: 'an index exists with different options', code: 85 });
  };
  const collection = {
    collectionName: 'letters',
    indexes: async () => stored,
    async createIndexes(wanted: IndexDescription[]) {
      for (const one of wanted) {
        const refused = refusal(one);
        if (refused) throw refused;
      }
      for (const one of wanted) {
        if (!stored.some(({ name }) => name === nameOf(one))) {
          stored.push({ name: nameOf(one), ...one });
        }
      }
    },
  };
  const db = {
    collection: () => collection,
    listCollections: () => ({ toArray: async () => [{ name: 'letters' }] }),
    async command({ index }: { index: { name: string; expireAfterSeconds: number } }) {
      const found = stored.find(({ name }) => name === index.name);
      if (!found) throw new Error('no such index');
      found.expireAfterSeconds = index.expireAfterSeconds;
    },
  } as unknown as Db;
  return { db, stored };
}

const nameOf = ({ key }: IndexDescription): string => Object.entries(key).flat().join('_');

const log = { info: jest.fn(), warn: jest.fn() };
beforeEach(() => jest.clearAllMocks());

test('changes the expiry of an index that exists, and creates the others', async () => {
  const { db, stored } = databaseWith({ key: { sent_at: 1 }, expireAfterSeconds: 60 });
  const letters = [{ key: { sent_at: 1 }, expireAfterSeconds: 120 }, { key: { sender: 1 } }];
  await createIndexes(db, { letters }, log);
  expect(stored).toMatchObject(letters);
  expect(compareIndexes({ letters }, { letters: stored })).toEqual([]);
  expect(log.info).toHaveBeenCalledTimes(1);
});

test('keeps an index that differs otherwise, creates the others, and names the difference', async () => {
  const { db, stored } = databaseWith({ key: { number: 1 }, unique: true });
  const letters = [{ key: { number: 1 }, unique: true, sparse: true }, { key: { sender: 1 } }];
  await createIndexes(db, { letters }, log);
  expect(stored).toMatchObject([{ key: { number: 1 }, unique: true }, { key: { sender: 1 } }]);
  expect(compareIndexes({ letters }, { letters: stored })).toMatchObject([
    { state: 'different', options: [{ name: 'sparse', declared: 'true', stored: '' }] },
  ]);
  expect(log.warn).toHaveBeenCalledTimes(1);
});

test('takes an index of another name that has the declared options', async () => {
  const letters = [{ key: { number: 1 }, unique: true }];
  const { db, stored } = databaseWith({ key: { number: 1 }, unique: true });
  const refused = new MongoServerError({ message: 'exists with a different name', code: 85 });
  db.collection('letters').createIndexes = () => Promise.reject(refused);
  (stored[0] as { name: string }).name = 'number_1_v2';
  await createIndexes(db, { letters }, log);
  expect(log.warn).not.toHaveBeenCalled();
});

const APPLY = { rebuild: false, drop_obsolete: false };

test('drops and builds an index only on request, if MongoDB refuses both', async () => {
  const { db, stored } = databaseWith({ key: { number: 1 }, unique: true });
  const letters = [{ key: { number: 1 }, unique: true, sparse: true }];
  const collection = db.collection('letters');
  const { createIndexes: create } = collection;
  collection.createIndexes = async (wanted) => {
    if (stored.length > 0) throw new MongoServerError({ message: 'equivalent index', code: 85 });
    return create(wanted);
  };
  collection.dropIndex = async () => stored.splice(0);
  expect(await applyIndexes(db, { letters }, APPLY)).toMatchObject([{ outcome: 'needs_rebuild' }]);
  expect(stored).toHaveLength(1);
  expect(await applyIndexes(db, { letters }, { ...APPLY, rebuild: true })).toMatchObject([
    { outcome: 'rebuilt' },
  ]);
  expect(stored).toMatchObject(letters);
});

test('changes an expiry in place', async () => {
  const { db, stored } = databaseWith({ key: { sent_at: 1 }, expireAfterSeconds: 60 });
  const letters = [{ key: { sent_at: 1 }, expireAfterSeconds: 120 }];
  expect(await applyIndexes(db, { letters }, APPLY)).toMatchObject([{ outcome: 'expiry_changed' }]);
  expect(stored).toMatchObject(letters);
});

test('throws any other failure', async () => {
  const { db } = databaseWith();
  db.collection('letters').createIndexes = () => Promise.reject(new Error('no disk'));
  await expect(createIndexes(db, { letters: [{ key: { a: 1 } }] }, log)).rejects.toThrow('no disk');
});
