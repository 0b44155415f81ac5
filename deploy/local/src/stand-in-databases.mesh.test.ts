// The list of databases: complete, and made without reading them. The library's own opened every
// database for it and read all documents under its lock, so that other commands waited for more
// than ten seconds.
import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';

const ROWS = 20_000;
const prefix = `list_${randomBytes(4).toString('hex')}_`;
let client: MongoClient;

beforeAll(async () => {
  client = await MongoClient.connect(process.env['MONGO_URL'] as string);
});
afterAll(async () => {
  for (const name of ['a', 'b']) await client.db(prefix + name).dropDatabase();
  await client.close();
});

const listed = async (): Promise<string[]> =>
  (await client.db().admin().listDatabases()).databases
    .map(({ name }) => name)
    .filter((name) => name.startsWith(prefix));

test('lists each database once, in order, in less time than it takes to read them', async () => {
  const rows = client.db(`${prefix}b`).collection('rows');
  await rows.insertMany(Array.from({ length: ROWS }, (_unused, index) => ({ index, of: 'x' })));
  await rows.createIndex({ index: 1 }, { unique: true });
  await client.db(`${prefix}a`).collection('rows').insertOne({});
  const began = performance.now();
  expect(await listed()).toEqual([`${prefix}a`, `${prefix}b`]);
  const list_ms = performance.now() - began;
  await rows.find().toArray();
  expect(list_ms).toBeLessThan(performance.now() - began - list_ms);
  await client.db(`${prefix}a`).dropDatabase();
  expect(await listed()).toEqual([`${prefix}b`]);
});
