import { createTemplateStore, factOf, indexes, type TemplateStore } from './store';
import { testDatabase } from '../../../test/testkit/database';

const WABA = '900000000000001';
const at = (second: number): Date => new Date(1_790_000_000_000 + second * 1_000);

const db = testDatabase(indexes);
let store: TemplateStore;
beforeAll(async () => {
  store = createTemplateStore(db);
});
beforeEach(async () => {
  await db.collection('templates').deleteMany({});
});

const aFact = (over: object = {}) =>
  factOf(WABA, {
    id: '300000000000001',
    name: 'order_update',
    language: 'en_US',
    status: 'PENDING',
    category: 'UTILITY',
    ...over,
  }) as NonNullable<ReturnType<typeof factOf>>;
const find = () => store.find(WABA, 'order_update', 'en_US');
const change = (fields: object, second: number) => ({
  waba_id: WABA,
  template_id: '300000000000001',
  name: 'order_update',
  language: 'en_US',
  fields,
  at: at(second),
});

test('keeps the newest value of each field, in whatever order values arrive', async () => {
  await store.learn([aFact()], at(0));
  await store.apply([
    change({ status: 'REJECTED', reason: 'X' }, 5),
    change({ quality: 'RED' }, 4),
  ]);
  await store.apply([change({ status: 'APPROVED', reason: null }, 3)]);
  await store.learn([aFact({ category: 'MARKETING' })], at(4));
  await expect(find()).resolves.toMatchObject({
    status: 'REJECTED',
    reason: 'X',
    quality: 'RED',
    category: 'MARKETING',
  });
});

test('an event of an unknown template creates its record', async () => {
  await store.apply([change({ status: 'APPROVED' }, 1)]);
  await expect(find()).resolves.toMatchObject({
    template_id: '300000000000001',
    status: 'APPROVED',
  });
});

test('a complete list deletes templates it does not contain, unless they are newer', async () => {
  await store.learn([aFact(), aFact({ id: '300000000000002', name: 'old' })], at(0));
  await store.learn([aFact({ id: '300000000000003', name: 'new' })], at(9));
  const listed = [aFact({ status: 'APPROVED' })];
  await store.learnAll(WABA, listed, { at: at(5), complete: false });
  await expect(store.find(WABA, 'old', 'en_US')).resolves.not.toBeNull();
  await store.learnAll(WABA, listed, { at: at(5), complete: true });
  await expect(store.find(WABA, 'old', 'en_US')).resolves.toBeNull();
  await expect(store.find(WABA, 'new', 'en_US')).resolves.not.toBeNull();
  await expect(find()).resolves.toMatchObject({ status: 'APPROVED' });
});

test('removes every language of a name, in one account only', async () => {
  await store.learn([aFact(), aFact({ id: '300000000000002', language: 'ms' })], at(0));
  await store.learn([{ ...aFact(), waba_id: '900000000000002' }], at(0));
  await store.remove(WABA, 'order_update');
  await expect(db.collection('templates').countDocuments()).resolves.toBe(1);
});

test('lists templates by name, or those whose category has changed', async () => {
  await store.learn([aFact(), aFact({ id: '300000000000002', name: 'welcome' })], at(0));
  await store.apply([change({ category: 'MARKETING' }, 5)]);
  const names = async (...asked: string[]) =>
    (await store.categories(WABA, asked)).map(({ name }) => name).sort();
  expect(await names()).toEqual(['order_update']);
  expect(await names('welcome', 'none')).toEqual(['welcome']);
  expect(await store.categories('900000000000002', ['welcome'])).toEqual([]);
  expect(await store.categories(WABA, [])).toMatchObject([
    { first_category: 'UTILITY', category: 'MARKETING', known_at: { category: at(5) } },
  ]);
});
