// The stand-in refuses what MongoDB 6 refuses by its documentation and source, and keeps concurrent
// updates apart. No test here has run on a MongoDB yet.
import { randomBytes } from 'node:crypto';
import { MongoClient, type Db, type Document, type IndexDescription } from 'mongodb';

let client: MongoClient;
let db: Db;
beforeAll(async () => {
  client = await MongoClient.connect(process.env['MONGO_URL'] as string);
  db = client.db(`refusals_${randomBytes(5).toString('hex')}`);
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

const refused = (work: Promise<unknown>, code: number, message = ''): Promise<void> =>
  expect(work).rejects.toMatchObject({ code, message: expect.stringContaining(message) });

describe('an index beside another one', () => {
  const at: IndexDescription = { key: { at: 1 }, name: 'at', expireAfterSeconds: 60 };
  const names = async (): Promise<string[]> =>
    (await db.collection('spec').indexes()).map(({ name }) => name as string).sort();

  beforeAll(() => db.collection('spec').createIndexes([at]));

  test.each<[string, IndexDescription]>([
    ['is identical', at],
    ['differs only in how its options are written', { ...at, sparse: false, background: true }],
  ])('%s: changes nothing', async (_, index) => {
    await db.collection('spec').createIndexes([index]);
    expect(await names()).toEqual(['_id_', 'at']);
  });

  test.each<[string, IndexDescription, number]>([
    ['the name, on another key', { ...at, key: { other: 1 } }, 86],
    ['the name, on the key in another order', { ...at, key: { at: -1 } }, 86],
    ['the name, and is unique', { ...at, unique: true }, 86],
    ['the name, with another expiry', { ...at, expireAfterSeconds: 61 }, 85],
    ['the name, without an expiry', { key: at.key, name: 'at' }, 85],
    ['the key, under another name', { ...at, name: 'other' }, 85],
    ['the key, without an expiry under another name', { key: at.key, name: 'other' }, 85],
  ])('has %s: is refused, and so are all of its command', async (_, index, code) => {
    await refused(db.collection('spec').createIndexes([{ key: { new: 1 } }, index]), code);
    expect(await names()).toEqual(['_id_', 'at']);
  });

  test('has the key, and is unique or sparse under another name: is created', async () => {
    const others = [
      { ...at, name: 'unique', unique: true },
      { ...at, name: 'sparse', sparse: true },
    ];
    await db.collection('spec').createIndexes(others);
    expect(await names()).toEqual(['_id_', 'at', 'sparse', 'unique']);
    for (const { name } of others) await db.collection('spec').dropIndex(name);
  });

  test('on several fields has no expiry', async () => {
    const several = { key: { a: 1, b: 1 }, expireAfterSeconds: 60 } as const;
    await refused(db.collection('spec').createIndexes([several]), 67);
  });

  test('is not dropped with one of its name in another collection', async () => {
    await db.collection('twin').createIndexes([at]);
    await db.collection('spec').dropIndex('at');
    expect(await db.collection('twin').indexes()).toContainEqual(expect.objectContaining(at));
    await refused(db.collection('spec').dropIndex('at'), 27);
    await db.collection('spec').createIndexes([at]);
  });

  test('can be built once the documents that it refuses are removed', async () => {
    const rows = db.collection<{ _id: number; a: number }>('built');
    await rows.insertMany([0, 1, 2].map((_id) => ({ _id, a: 0 })));
    const build = (): Promise<string[]> =>
      rows.createIndexes([{ key: { b: 1 } }, { key: { a: 1 }, unique: true }]);
    await refused(build(), 11_000);
    expect(await rows.indexes()).toHaveLength(1);
    await rows.deleteMany({ _id: { $gt: 0 } });
    await build();
    await refused(rows.insertOne({ _id: 1, a: 0 }), 11_000);
  });
});

test('collMod changes and adds an expiry', async () => {
  await db
    .collection('mod')
    .createIndexes([
      { key: { at: 1 }, expireAfterSeconds: 60 },
      { key: { seen: 1 } },
      { key: { a: 1, b: 1 } },
    ]);
  const modify = (index: Document): Promise<Document> => db.command({ collMod: 'mod', index });
  expect(await modify({ name: 'at_1', expireAfterSeconds: 120 })).toMatchObject({
    expireAfterSeconds_old: 60,
    expireAfterSeconds_new: 120,
  });
  const added = await modify({ keyPattern: { seen: 1 }, expireAfterSeconds: 5 });
  expect(added).toMatchObject({ expireAfterSeconds_new: 5 });
  expect(added).not.toHaveProperty('expireAfterSeconds_old');
  expect(await db.collection('mod').indexes()).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'at_1', expireAfterSeconds: 120 }),
      expect.objectContaining({ name: 'seen_1', expireAfterSeconds: 5 }),
    ]),
  );
  await refused(modify({ name: 'none', expireAfterSeconds: 1 }), 27);
  await refused(modify({ name: 'a_1_b_1', expireAfterSeconds: 1 }), 72);
  await refused(db.command({ collMod: 'none', index: { name: 'at_1' } }), 26);
});

test('a read ends at its time limit', async () => {
  const rows = db.collection<{ _id: number; text: string }>('slow');
  await rows.insertMany(
    Array.from({ length: 5_000 }, (_, _id) => ({ _id, text: `${1e11 + _id}` })),
  );
  const filter = { text: /^(\d+)+x$/ };
  const reads: ((maxTimeMS: number) => Promise<unknown>)[] = [
    (maxTimeMS) => rows.find(filter, { maxTimeMS }).toArray(),
    (maxTimeMS) => rows.aggregate([{ $match: filter }], { maxTimeMS }).toArray(),
    (maxTimeMS) => rows.distinct('text', filter, { maxTimeMS }),
    (maxTimeMS) => db.command({ count: 'slow', query: filter, maxTimeMS }),
  ];
  await reads[0]?.(0);
  for (const read of reads) await refused(read(1), 50);
});

test('a hint has to name an index', async () => {
  const rows = db.collection<{ _id: number; a: number }>('hint');
  await rows.insertOne({ _id: 1, a: 1 });
  await rows.createIndex({ a: 1, _id: -1 });
  for (const hint of ['a_1__id_-1', { a: 1, _id: -1 }, '_id_', { _id: 1 }, { $natural: 1 }]) {
    expect(await rows.find({}, { hint }).toArray()).toHaveLength(1);
  }
  const message = 'hint provided does not correspond to an existing index';
  for (const hint of ['a_1', { a: 1 }, { _id: -1, a: 1 }, { a: 1, _id: 1 }]) {
    await refused(rows.find({}, { hint }).toArray(), 2, message);
    await refused(rows.countDocuments({}, { hint }), 2, message);
    await refused(rows.updateOne({}, { $set: { a: 2 } }, { hint }), 2, message);
    await refused(rows.deleteOne({}, { hint }), 2, message);
    const change = { query: {}, update: { $set: { a: 2 } }, hint };
    await refused(db.command({ findAndModify: 'hint', ...change }), 2, message);
  }
  expect(await rows.find().toArray()).toEqual([{ _id: 1, a: 1 }]);
});

test('two arrays in the fields of one index are refused', async () => {
  const rows = db.collection<{ _id: number; a: number[]; b?: number[] }>('parallel');
  await rows.createIndex({ a: 1, b: 1 });
  await rows.insertOne({ _id: 1, a: [1] });
  await refused(rows.insertOne({ _id: 2, a: [1], b: [2] }), 171);
  await refused(rows.updateOne({ _id: 1 }, { $set: { b: [] } }), 171);
  expect(await rows.find().toArray()).toEqual([{ _id: 1, a: [1] }]);
});

describe('the keys of a unique index', () => {
  const pair = async (index: IndexDescription, one: Document, other: Document): Promise<void> => {
    const rows = db.collection(`unique_${randomBytes(5).toString('hex')}`);
    await rows.createIndexes([{ ...index, unique: true }]);
    await rows.insertOne(one);
    await rows.insertOne(other);
  };
  const plain = { key: { a: 1 } };
  const deep = { key: { 'a.b': 1 } };
  const both = { key: { a: 1, c: 1 } };

  test.each<[string, IndexDescription, Document, Document]>([
    ['empty arrays', plain, { a: [] }, { a: [] }],
    ['empty arrays, if it is sparse', { ...plain, sparse: true }, { a: [] }, { a: [] }],
    ['an empty array of parents and nothing', deep, { a: [] }, {}],
    ['empty arrays below an array', deep, { a: [{ b: [] }, { b: 1 }] }, { a: [{ b: [] }] }],
    ['empty arrays beside equal values', both, { a: [], c: 1 }, { a: [], c: 1 }],
    ['nothing and null', plain, {}, { a: null }],
    ['one element of each array', plain, { a: [1, 2] }, { a: [2, 3] }],
    [
      'a parent in an array, if it is sparse',
      { ...deep, sparse: true },
      { a: [{ b: 1 }] },
      { a: { b: 1 } },
    ],
  ])('conflict for %s', async (_, index, one, other) => {
    await refused(pair(index, one, other), 11_000, 'dup key');
  });

  test.each<[string, IndexDescription, Document, Document]>([
    ['an empty array and null', plain, { a: [] }, { a: null }],
    ['an empty array and nothing', plain, { a: [] }, {}],
    ['an empty array and one in an array', plain, { a: [] }, { a: [[]] }],
    [
      'an empty array of parents twice, if it is sparse',
      { ...deep, sparse: true },
      { a: [] },
      { a: [] },
    ],
    ['empty arrays beside other values', both, { a: [], c: 1 }, { a: [], c: 2 }],
    ['the same element twice in one array', plain, { a: [1, 1] }, { a: [2, 2] }],
  ])('do not conflict for %s', async (_, index, one, other) => {
    await pair(index, one, other);
  });

  test('follow updates to and from an empty array', async () => {
    const rows = db.collection<{ _id: number; a: unknown }>('empty');
    await rows.createIndex({ a: 1 }, { unique: true });
    await rows.insertMany([
      { _id: 1, a: [] },
      { _id: 2, a: [1] },
    ]);
    const set = (_id: number, a: unknown) => rows.updateOne({ _id }, { $set: { a } });
    await refused(set(2, []), 11_000);
    await set(1, [2, 3]);
    await set(2, []);
    await refused(set(1, []), 11_000);
    expect(await rows.find({ a: [] }).toArray()).toEqual([{ _id: 2, a: [] }]);
    await rows.deleteOne({ _id: 2 });
    await set(1, []);
  });
});

test('concurrent updates that return the new document return each number once', async () => {
  const url = process.env['MONGO_URL'] as string;
  const clients = await Promise.all([1, 2, 3, 4].map(() => MongoClient.connect(url)));
  const found = await Promise.all(
    clients.flatMap((one) =>
      Array.from({ length: 250 }, async () => {
        const counters = one.db(db.databaseName).collection<{ _id: number; n: number }>('counters');
        const options = { upsert: true, returnDocument: 'after' } as const;
        return (await counters.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }, options))?.n;
      }),
    ),
  );
  await Promise.all(clients.map((one) => one.close()));
  expect(found.sort((one, other) => Number(one) - Number(other))).toEqual(
    Array.from({ length: 1_000 }, (_, index) => index + 1),
  );
});
