import { testDatabase } from '../../../../test/testkit/database';
import { deleteInPages } from '.';

const db = testDatabase();

test('deletes more documents than a page has, and no others', async () => {
  const letters = db.collection<{ sender: string }>('letters');
  const of = (sender: string, count: number) => Array.from({ length: count }, () => ({ sender }));
  await letters.insertMany([...of('a', 2_100), ...of('b', 3)]);
  expect(await deleteInPages(letters, { sender: 'a' })).toBe(2_100);
  expect(await deleteInPages(letters, { sender: 'a' })).toBe(0);
  expect(await letters.countDocuments()).toBe(3);
});
