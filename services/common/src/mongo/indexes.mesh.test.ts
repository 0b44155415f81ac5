import { randomBytes } from 'node:crypto';
import { MongoClient, type Db } from 'mongodb';
import { createIndexes, missingIndexes, type Indexes } from '.';

const INDEXES: Indexes = {
  letters: [
    { key: { sender: 1, sent_at: -1 } },
    { key: { number: 1 }, unique: true, sparse: true },
    { key: { sent_at: 1 }, expireAfterSeconds: 60 },
  ],
  stamps: [{ key: { country: 1 } }],
};

let client: MongoClient;
let db: Db;
beforeAll(async () => {
  client = await new MongoClient(process.env['MONGO_URL'] as string).connect();
  db = client.db(`indexes_${randomBytes(5).toString('hex')}`);
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

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
  expect(await missingIndexes(db, INDEXES)).toEqual([]);
});

test('names the indexes that are missing', async () => {
  await createIndexes(db, INDEXES);
  await db.collection('letters').dropIndex('sender_1_sent_at_-1');
  expect(await missingIndexes(db, INDEXES)).toEqual(['letters: sender, sent_at']);
});
