// Every query must find the same with indexes as without: random documents and queries, against a
// collection that has the indexes and one that has none.
import { randomBytes } from 'node:crypto';
import { Binary, Long, MongoClient, ObjectId, type Collection, type Db } from 'mongodb';

interface Row {
  _id: unknown;
  [field: string]: unknown;
}

const ROWS = 300;
const QUERIES = 400;
const UPDATES = 150;

/** Seeds the random numbers, so that every run has the same. */
let state = 42;
const below = (limit: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
};
const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T;

const ids = Array.from({ length: 8 }, (_, index) => ObjectId.createFromTime(index));
const SCALARS: readonly (() => unknown)[] = [
  () => below(5),
  () => below(5) - 2.5,
  () => Long.fromString('9007199254740993').add(below(3)),
  () => oneOf(['', 'a', 'ab', 'b', 'é', '😀', 'a\0b', 'a\0']),
  () => new Date(1_790_000_000_000 + below(5)),
  () => oneOf(ids),
  () => oneOf([true, false]),
  () => new Binary(Buffer.from([below(3)])),
  () => ({ x: below(3), y: 'z' }),
];
const scalar = (): unknown => oneOf(SCALARS)();
const some = (): unknown[] => Array.from({ length: below(4) }, scalar);

function row(index: number): Row {
  const fields: Row = { _id: oneOf([`row-${index}`, index, { of: index }]), unique: index };
  if (below(5) > 0) fields['a'] = oneOf([scalar, scalar, scalar, () => null])();
  if (below(5) > 0) fields['b'] = scalar();
  if (below(3) > 0) fields['tags'] = some();
  if (below(3) > 0)
    fields['items'] = Array.from({ length: below(3) }, () => ({ of: scalar(), in: below(3) }));
  return fields;
}

const bound = (): object => ({ [oneOf(['$gt', '$gte', '$lt', '$lte'])]: scalar() });
const CONDITIONS: readonly (() => unknown)[] = [
  scalar,
  scalar,
  () => null,
  () => ({ $in: some() }),
  () => ({ $in: [scalar(), scalar(), null] }),
  () => ({ $eq: scalar() }),
  () => ({ $ne: scalar() }),
  () => ({ $exists: oneOf([true, false]) }),
  bound,
  () => ({ $gte: new Date(1_790_000_000_001), $lt: new Date(1_790_000_000_003) }),
  () => ({ $gt: below(3), $in: [1, 2, 3, 4] }),
  () => ({ $gte: below(5) - 2.5, $lte: below(5) }),
  () => ({ $gt: oneOf(['', 'a', 'ab']), $lt: oneOf(['ab', 'b', 'é']) }),
];

function query(): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const field of ['a', 'b', 'tags', 'items.of', 'items.in', 'unique', '_id']) {
    if (below(3) > 0) continue;
    if (field === 'unique') found[field] = oneOf([below(ROWS), { $lt: below(ROWS) }]);
    else if (field === '_id') found[field] = oneOf([`row-${below(ROWS)}`, { $gte: 'row-3' }]);
    else found[field] = field === 'items.in' ? below(3) : oneOf(CONDITIONS)();
  }
  if (below(4) === 0) found['items'] = { $elemMatch: { of: oneOf(CONDITIONS)(), in: below(3) } };
  return found;
}

let client: MongoClient;
let db: Db;
let plain: Collection<Row>;
let indexed: Collection<Row>;
beforeAll(async () => {
  client = await MongoClient.connect(process.env['MONGO_URL'] as string);
  db = client.db(`indexes_${randomBytes(5).toString('hex')}`);
  plain = db.collection('plain');
  indexed = db.collection('indexed');
  await indexed.createIndexes([
    { key: { a: 1, b: 1 } },
    { key: { b: 1, tags: 1 } },
    { key: { tags: 1 } },
    { key: { 'items.of': 1, a: 1 }, sparse: true },
    { key: { 'items.in': 1, 'items.of': 1 } },
    { key: { unique: 1 }, unique: true },
    { key: { a: 1, unique: 1 }, unique: true },
  ]);
  const rows = Array.from({ length: ROWS }, (_, index) => row(index));
  await plain.insertMany(rows);
  await indexed.insertMany(rows);
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

const read = async (of: Collection<Row>, filter: object): Promise<unknown[]> =>
  (await of.find(filter, { promoteLongs: false }).sort({ unique: 1 }).toArray()).map(
    ({ unique, ...rest }) => ({ unique: Number(unique), ...rest }),
  );

async function compareQueries(): Promise<number> {
  let found = 0;
  for (let turn = 0; turn < QUERIES; turn += 1) {
    const filter = query();
    const [wanted, actual] = await Promise.all([read(plain, filter), read(indexed, filter)]);
    expect({ filter, found: actual }).toEqual({ filter, found: wanted });
    expect(await indexed.countDocuments(filter)).toBe(wanted.length);
    if (wanted.length > 0 && wanted.length < ROWS) found += 1;
  }
  return found;
}

test('an index changes no answer', async () => {
  expect(await compareQueries()).toBeGreaterThan(QUERIES / 10);
});

test('indexes follow updates and deletions', async () => {
  for (let turn = 0; turn < UPDATES; turn += 1) {
    const filter = { unique: below(ROWS) };
    const { _id, unique, ...fields } = row(0);
    const deletes = below(10) === 0;
    for (const rows of [plain, indexed]) {
      if (deletes) await rows.deleteOne(filter);
      else await rows.updateOne(filter, { $set: fields });
    }
  }
  expect(await compareQueries()).toBeGreaterThan(QUERIES / 10);
});

test('an index with the order of a query changes no page', async () => {
  const [unsorted, sorted] = [db.collection<Row>('unsorted'), db.collection<Row>('sorted')];
  await sorted.createIndexes([
    { key: { a: 1, b: 1, _id: 1 } },
    { key: { b: 1, _id: -1 } },
    { key: { due: 1 }, sparse: true },
  ]);
  const values = SCALARS.slice(0, 6);
  const rows = Array.from({ length: ROWS }, (_, _id): Row => ({
    _id,
    ...(below(4) > 0 && { a: below(3) }),
    ...(below(5) > 0 && { b: below(5) > 0 ? oneOf(values)() : null }),
    ...(below(5) === 0 && { due: below(3) > 0 ? below(3) : null }),
  }));
  await unsorted.insertMany(rows);
  await sorted.insertMany(rows);
  const filters: ReadonlyArray<() => Record<string, unknown>> = [
    () => ({ a: below(3) }),
    () => ({ a: { $in: [0, 1, 2].slice(below(3)) } }),
    () => ({ a: { $exists: false } }),
    () => ({ a: below(3), b: { [oneOf(['$gt', '$lte'])]: below(5) } }),
    () => ({ b: { $in: [0, 1, 2, 3] }, _id: { $gte: below(ROWS), $lt: below(ROWS) } }),
    () => ({ due: { $exists: true } }),
    () => ({ $and: [{ a: below(3) }, { b: { $gte: below(3) } }, { b: { $lt: below(5) } }] }),
    () => ({ a: below(3), $and: [{ a: below(3), $or: [{ b: below(3) }, { b: { $gt: 3 } }] }] }),
  ];
  const orders = [
    { b: 1, _id: 1 },
    { b: -1, _id: -1 },
    { a: 1, b: 1, _id: 1 },
    { b: 1, _id: -1 },
    { _id: 1 },
    { due: -1, _id: 1 },
  ] as const;
  for (let turn = 0; turn < QUERIES; turn += 1) {
    const [filter, order] = [oneOf(filters)(), oneOf(orders)];
    const [skip, limit] = [below(4), 1 + below(9)];
    const page = (of: Collection<Row>): Promise<Row[]> =>
      of.find(filter).sort(order).skip(skip).limit(limit).toArray();
    const [wanted, found] = await Promise.all([page(unsorted), page(sorted)]);
    expect({ filter, order, found }).toEqual({ filter, order, found: wanted });
    // A query without an order may return any of them.
    const some = await sorted.find(filter).limit(limit).toArray();
    expect(some).toHaveLength(Math.min(limit, await unsorted.countDocuments(filter)));
  }
});

test('a value that a unique index has is refused, and may be used once it is free', async () => {
  const names = db.collection<Row>('names');
  await names.createIndex({ name: 1 }, { unique: true });
  await names.insertOne({ _id: 1, name: 'a\0b' });
  await expect(names.insertOne({ _id: 2, name: 'a\0b' })).rejects.toMatchObject({ code: 11_000 });
  await names.insertOne({ _id: 2, name: 'a' });
  await names.deleteOne({ name: 'a\0b' });
  await names.insertOne({ _id: 3, name: 'a\0b' });
  expect(await names.find({ name: 'a\0b' }).toArray()).toEqual([{ _id: 3, name: 'a\0b' }]);
});

test('a range of ids has its documents in both orders, up to the limit', async () => {
  const rows = db.collection<{ _id: string; a: number }>('ids');
  const all = Array.from({ length: 2_000 }, (_, index) => ({
    _id: `p${Math.floor(index / 500)}/${String(index).padStart(6, '0')}`,
    a: index % 3,
  }));
  await rows.insertMany(all);
  for (let turn = 0; turn < 100; turn += 1) {
    const [from, to] = [oneOf(all)._id, oneOf(all)._id];
    const a = below(4);
    const backwards = below(2) === 0;
    const [skip, limit] = [below(5), below(5)];
    const found = await rows
      .find({ _id: { $gte: from, $lt: to }, ...(a < 3 && { a }) })
      .sort({ _id: backwards ? -1 : 1 })
      .skip(skip)
      .limit(limit)
      .map(({ _id }) => _id)
      .toArray();
    const wanted = all.filter((one) => one._id >= from && one._id < to && (a === 3 || one.a === a));
    if (backwards) wanted.reverse();
    const end = limit === 0 ? undefined : skip + limit;
    expect(found).toEqual(wanted.slice(skip, end).map(({ _id }) => _id));
  }
});
