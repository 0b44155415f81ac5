import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { deleteInPages } from '.';

test('deletes more documents than a page has, and no others', async () => {
  const client = await MongoClient.connect(process.env['MONGO_URL'] as string);
  const db = client.db(`pages_${randomBytes(5).toString('hex')}`);
  const letters = db.collection<{ sender: string }>('letters');
  const of = (sender: string, count: number) => Array.from({ length: count }, () => ({ sender }));
  await letters.insertMany([...of('a', 2_100), ...of('b', 3)]);
  expect(await deleteInPages(letters, { sender: 'a' })).toBe(2_100);
  expect(await deleteInPages(letters, { sender: 'a' })).toBe(0);
  expect(await letters.countDocuments()).toBe(3);
  await db.dropDatabase();
  await client.close();
});
