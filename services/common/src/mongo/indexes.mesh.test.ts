import { testDatabase } from '../../../../test/testkit/database';
import { createIndexes, type Indexes } from '.';
import { applyIndexes, findDifferences, type ApplyOptions } from './indexes';

const INDEXES: Indexes = {
  letters: [
    { key: { sender: 1, sent_at: -1 } },
    { key: { number: 1 }, unique: true, sparse: true },
    { key: { sent_at: 1 }, expireAfterSeconds: 60 },
  ],
  stamps: [{ key: { country: 1 } }],
};

const db = testDatabase();
const log = { info: jest.fn(), warn: jest.fn() };
beforeEach(() => jest.clearAllMocks());
afterEach(() => db.dropDatabase());

test('creates the declared indexes with their options, and repeats safely', async () => {
  await createIndexes(db, INDEXES);
  await createIndexes(db, INDEXES);
  const found = await db.collection('letters').indexes();
  expect(found).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ key: { sender: 1, sent_at: -1 } }),
      expect.objectContaining({ key: { number: 1 }, unique: true, sparse: true }),
      expect.objectContaining({ key: { sent_at: 1 }, expireAfterSeconds: 60 }),
    ]),
  );
  expect(await findDifferences(db, INDEXES)).toEqual([]);
});

test('changes the expiry of an index that exists, and creates the others', async () => {
  await createIndexes(db, { letters: [{ key: { sent_at: 1 }, expireAfterSeconds: 60 }] });
  const letters = [{ key: { sent_at: 1 }, expireAfterSeconds: 120 }, { key: { sender: 1 } }];
  await createIndexes(db, { letters }, log);
  expect(await findDifferences(db, { letters })).toEqual([]);
  expect(log.info).toHaveBeenCalledTimes(1);
});

test('keeps an index that differs otherwise, creates the others, and names the difference', async () => {
  await createIndexes(db, { letters: [{ key: { number: 1 }, unique: true }] });
  const letters = [{ key: { number: 1 }, unique: true, sparse: true }, { key: { sender: 1 } }];
  await createIndexes(db, { letters }, log);
  expect(await findDifferences(db, { letters })).toMatchObject([
    { state: 'different', options: [{ name: 'sparse', declared: 'true', stored: '' }] },
  ]);
  expect(log.warn).toHaveBeenCalledTimes(1);
});

test('takes an index of another name that has the declared options', async () => {
  const number = { key: { number: 1 }, unique: true };
  await createIndexes(db, { letters: [{ ...number, name: 'number_1_v2' }] });
  await createIndexes(db, { letters: [number] }, log);
  expect(await findDifferences(db, { letters: [number] })).toEqual([]);
  expect(log.warn).not.toHaveBeenCalled();
});

test('throws any other failure', async () => {
  await db.collection('letters').insertMany([{ number: 1 }, { number: 1 }]);
  const letters = [{ key: { number: 1 }, unique: true }];
  await expect(createIndexes(db, { letters }, log)).rejects.toMatchObject({ code: 11_000 });
});

const APPLY: ApplyOptions = { rebuild: false, drop_obsolete: false };

test('changes an expiry in place', async () => {
  await createIndexes(db, { letters: [{ key: { sent_at: 1 } }] });
  const letters = [{ key: { sent_at: 1 }, expireAfterSeconds: 120 }];
  expect(await applyIndexes(db, { letters }, APPLY)).toMatchObject([{ outcome: 'expiry_changed' }]);
  expect(await findDifferences(db, { letters })).toEqual([]);
});

test('drops and builds an index only on request, if MongoDB lets none stand beside it', async () => {
  await createIndexes(db, { letters: [{ key: { sent_at: 1 }, expireAfterSeconds: 60 }] });
  const letters = [{ key: { sent_at: 1 } }];
  expect(await applyIndexes(db, { letters }, APPLY)).toMatchObject([{ outcome: 'needs_rebuild' }]);
  expect(await findDifferences(db, { letters })).toMatchObject([{ state: 'different' }]);
  expect(await applyIndexes(db, { letters }, { ...APPLY, rebuild: true })).toMatchObject([
    { outcome: 'rebuilt' },
  ]);
  expect(await findDifferences(db, { letters })).toEqual([]);
});

test('builds what is missing, replaces what differs, and drops what is obsolete on request', async () => {
  await createIndexes(db, INDEXES);
  const letters = db.collection('letters');
  await letters.dropIndex('sender_1_sent_at_-1');
  await letters.dropIndex('number_1');
  await letters.createIndexes([{ key: { number: 1 } }, { key: { title: 1 } }]);
  await db.collection('drafts').createIndex({ title: 1 });
  const apply = async (options: Partial<ApplyOptions> = {}) => {
    const changes = await applyIndexes(db, INDEXES, { ...APPLY, ...options });
    return changes.map(({ collection, key, outcome }) => `${outcome} ${collection} ${key}`);
  };
  const states = async () => (await findDifferences(db, INDEXES)).map(({ state }) => state);
  expect(await states()).toEqual(['obsolete', 'missing', 'different', 'obsolete']);
  expect(await apply()).toEqual([
    'created letters sender: 1, sent_at: -1',
    'replaced letters number: 1',
  ]);
  expect(await states()).toEqual(['obsolete', 'obsolete']);
  expect(await letters.indexes()).toContainEqual(
    expect.objectContaining({ name: 'number_1_v2', unique: true, sparse: true }),
  );
  expect(await apply({ drop_obsolete: true })).toEqual([
    'dropped drafts title: 1',
    'dropped letters title: 1',
  ]);
  expect(await states()).toEqual([]);
});

test('reports a unique index that stored documents refuse, and keeps the old one', async () => {
  const stamps = db.collection('stamps');
  await stamps.insertMany([{ country: 'a' }, { country: 'a' }]);
  const unique = { stamps: [{ key: { country: 1 }, unique: true }] };
  await createIndexes(db, { stamps: INDEXES['stamps'] ?? [] });
  const [change] = await applyIndexes(db, unique, APPLY);
  expect(change).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('duplicate') });
  expect(await stamps.indexes()).toContainEqual(expect.objectContaining({ name: 'country_1' }));
});
