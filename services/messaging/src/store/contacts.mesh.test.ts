import { MongoClient, type Db } from 'mongodb';
import { createIndexes } from '@bmg/common/mongo';
import { createContacts, type Contacts } from './contacts';
import { indexes } from './indexes';

const WABA = '900000000000001';
const PHONE = '15550100777';
const at = (second: number): Date => new Date(1_790_000_000_000 + second * 1_000);

let client: MongoClient;
let db: Db;
let contacts: Contacts;
beforeAll(async () => {
  client = new MongoClient(process.env['MONGO_URL'] as string);
  db = client.db(`contacts-${process.pid}-${Date.now()}`);
  await createIndexes(db, indexes);
  contacts = createContacts(db);
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});
beforeEach(async () => {
  await db.collection('contacts').deleteMany({});
});

const told = { waba_id: WABA, phone: PHONE };
const bySync = { ...told, wa_id: PHONE, source: 'sync' as const };
const byTraffic = { ...told, wa_id: '15550100778', source: 'traffic' as const };

test('a number is known only to the account that stored it', async () => {
  await Promise.all([
    contacts.learn({ ...byTraffic, at: at(0) }),
    contacts.learn({ ...byTraffic, phone: '15550100001', at: at(0) }),
  ]);
  await expect(contacts.find(WABA, PHONE)).resolves.toEqual({ wa_id: '15550100778' });
  await expect(contacts.find('900000000000002', PHONE)).resolves.toBeNull();
  await expect(contacts.find(WABA, '15550100002')).resolves.toBeNull();
});

test('contact sync does not overwrite facts from traffic', async () => {
  await contacts.apply([
    { learn: { ...bySync, at: at(0) } },
    { learn: { ...byTraffic, at: at(1) } },
    { learn: { ...bySync, at: at(2) } },
  ]);
  await expect(contacts.find(WABA, PHONE)).resolves.toEqual({ wa_id: '15550100778' });
});

test('a removal by contact sync keeps facts from traffic', async () => {
  await contacts.apply([
    { learn: { ...bySync, at: at(0) } },
    { remove: { ...told, source: 'sync', at: at(1) } },
  ]);
  await expect(contacts.find(WABA, PHONE)).resolves.toBeNull();
  await contacts.apply([
    { learn: { ...byTraffic, at: at(0) } },
    { remove: { ...told, source: 'sync', at: at(1) } },
  ]);
  await expect(contacts.find(WABA, PHONE)).resolves.not.toBeNull();
});

test('later facts stay, and repeating a batch changes nothing', async () => {
  const batch = [
    { learn: { ...byTraffic, at: at(0) } },
    { remove: { ...told, at: at(1) } },
    { learn: { ...byTraffic, at: at(2) } },
  ];
  await contacts.apply(batch);
  await contacts.apply(batch);
  await expect(contacts.find(WABA, PHONE)).resolves.not.toBeNull();
  await contacts.apply([{ remove: { ...told, at: at(2) } }]);
  await expect(contacts.find(WABA, PHONE)).resolves.toBeNull();
});

test('records expire 180 days after the last activity', async () => {
  await contacts.learn({ ...byTraffic, at: at(5) });
  await contacts.learn({ ...byTraffic, at: at(3) });
  const [record] = await db.collection('contacts').find().toArray();
  expect(record?.['seen_at']).toEqual(at(5));
  const indexes = await db.collection('contacts').indexes();
  expect(indexes).toContainEqual(
    expect.objectContaining({ key: { seen_at: 1 }, expireAfterSeconds: 180 * 86_400 }),
  );
});

test('concurrent facts about a contact make one write, in which traffic wins', async () => {
  await Promise.all([
    contacts.apply([{ learn: { ...bySync, at: at(3) } }]),
    contacts.apply([{ learn: { ...byTraffic, at: at(1) } }, { learn: { ...bySync, at: at(2) } }]),
    contacts.apply([{ learn: { ...byTraffic, phone: '15550100001', at: at(0) } }]),
  ]);
  expect(
    await db.collection('contacts').find().project({ _id: 0 }).sort({ phone: 1 }).toArray(),
  ).toEqual([
    { ...byTraffic, phone: '15550100001', seen_at: at(0) },
    { ...byTraffic, seen_at: at(3) },
  ]);
});
