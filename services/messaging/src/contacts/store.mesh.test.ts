import { createContacts, createConversations } from './store';
import { indexes } from '../collections';
import { NEXT_YEAR } from '../../../../test/testkit/next-year';
import { emptyDatabase, testDatabase } from '../../../../test/testkit/database';

const WABA = '900000000000001';
const PHONE = '15550100777';
const at = (second: number): Date => new Date(Date.UTC(NEXT_YEAR, 8, 21, 0, 0, second));

const db = testDatabase(indexes);
const contacts = createContacts(db);
const conversations = createConversations(db);
beforeEach(() => emptyDatabase(db));

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
  expect(await db.collection('contacts').find().sort({ _id: 1 }).toArray()).toEqual([
    { _id: `${WABA}/15550100001`, wa_id: '15550100778', seen_at: at(0) },
    { _id: `${WABA}/${PHONE}`, wa_id: '15550100778', in_address_book: true, seen_at: at(3) },
  ]);
});

describe('conversations', () => {
  const note = { waba_id: WABA, phone_number_id: '800', contact: PHONE };
  const scope = { waba_id: WABA, phone_number_id: '800' };

  test('share the record of their contact, by number', async () => {
    await contacts.apply([
      { learn: { ...byTraffic, at: at(4) } },
      { note: { ...note, kind: 'inbound', at: at(4), bsuid: 'US.4Qm7Zr81Kd02' } },
      { note: { ...note, kind: 'inbound', at: at(3) } },
      { note: { ...note, kind: 'entry', at: at(2) } },
      { note: { ...note, phone_number_id: '801', kind: 'failed', code: 131_026, at: at(5) } },
    ]);
    expect(await db.collection('contacts').find().toArray()).toEqual([
      {
        _id: `${WABA}/${PHONE}`,
        wa_id: '15550100778',
        bsuid: 'US.4Qm7Zr81Kd02',
        numbers: {
          800: { inbound_at: at(4), entry_at: at(2) },
          801: { failed: { code: 131_026, at: at(5) } },
        },
        seen_at: at(5),
      },
    ]);
    const known = { inbound_at: at(4), entry_at: at(2) };
    await expect(conversations.find(scope, [PHONE, '15550100002'])).resolves.toEqual(
      new Map([
        [PHONE, known],
        ['US.4Qm7Zr81Kd02', known],
      ]),
    );
    const byBsuid = await conversations.find(scope, ['US.4Qm7Zr81Kd02']);
    expect(byBsuid.get('US.4Qm7Zr81Kd02')).toEqual(known);
    const elsewhere = { waba_id: '900000000000002', phone_number_id: '800' };
    await expect(conversations.find(elsewhere, ['US.4Qm7Zr81Kd02'])).resolves.toEqual(new Map());
  });

  test('follow a BSUID to the next one, also beside what is known of that one', async () => {
    const [from, to] = ['US.4Qm7Zr81Kd02', 'US.7Bn5Xc'];
    await contacts.apply([
      { note: { ...note, contact: from, kind: 'inbound', at: at(1) } },
      { note: { ...note, contact: to, kind: 'entry', at: at(0) } },
      { note: { ...note, kind: 'inbound', at: at(2), bsuid: from } },
      { follow: { waba_id: WABA, from, to } },
      { follow: { waba_id: '900000000000002', from: to, to: 'US.Other' } },
    ]);
    const found = await conversations.find(scope, [to]);
    expect(found.get(to)).toEqual({ inbound_at: at(2), entry_at: at(0) });
    await contacts.apply([{ follow: { waba_id: WABA, phone: PHONE, to: 'US.Next' } }]);
    expect((await conversations.find(scope, ['US.Next'])).get('US.Next')).toEqual({
      inbound_at: at(2),
    });
  });

  test('outlive the removal of their contact', async () => {
    await contacts.apply([
      { learn: { ...byTraffic, at: at(0) } },
      { note: { ...note, kind: 'inbound', at: at(0) } },
      { note: { ...note, kind: 'failed', code: 131_026, at: at(1) } },
      { remove: { ...told, at: at(2) } },
    ]);
    await expect(contacts.find(WABA, PHONE)).resolves.toBeNull();
    await expect(contacts.findIds(WABA, [PHONE])).resolves.toEqual(new Map());
    await expect(conversations.find(scope, [PHONE])).resolves.toEqual(
      new Map([[PHONE, { inbound_at: at(0), failed: { code: 131_026, at: at(1) } }]]),
    );
    await contacts.apply([{ learn: { ...bySync, at: at(3) } }]);
    await expect(contacts.find(WABA, PHONE)).resolves.toEqual({ wa_id: PHONE });
  });

  test('stored late do not bring back a contact that was purged', async () => {
    await contacts.noteLate({ ...note, kind: 'inbound', at: at(1) });
    expect(await db.collection('contacts').countDocuments()).toBe(0);
    await contacts.apply([{ note: { ...note, kind: 'inbound', at: at(0) } }]);
    await contacts.noteLate({ ...note, kind: 'inbound', at: at(1) });
    const found = await conversations.find(scope, [PHONE]);
    expect(found.get(PHONE)).toEqual({ inbound_at: at(1) });
  });

  test('are recorded since the first start', async () => {
    await contacts.start(at(0));
    await contacts.start(at(1));
    await expect(conversations.recordedSince()).resolves.toEqual(at(0));
  });
});

test('a removal leaves nothing of a contact that never wrote', async () => {
  const legacy = { _id: `${WABA}/15550100003` as never, ...bySync, seen_at: at(0) };
  await db.collection('contacts').insertOne(legacy);
  await contacts.apply([
    { learn: { ...bySync, at: at(0) } },
    { remove: { ...told, source: 'sync', at: at(1) } },
    { learn: { ...byTraffic, phone: '15550100001', at: at(0) } },
    { remove: { ...told, phone: '15550100001', at: at(1) } },
    { remove: { ...told, phone: '15550100003', source: 'sync', at: at(1) } },
  ]);
  expect(await db.collection('contacts').countDocuments()).toBe(0);
});

describe('the two spellings of a number', () => {
  const LONG = '5511987650001';
  const SHORT = '551187650001';
  const scope = { waba_id: WABA, phone_number_id: '800' };
  const note = { ...scope, contact: SHORT };
  const learnt = (phone: string, wa_id: string) => ({
    learn: { waba_id: WABA, phone, wa_id, source: 'traffic' as const, at: at(0) },
  });
  const failed = { code: 131_026, at: at(2) };

  test('share their conversation, whatever of each is stored', async () => {
    await contacts.apply([
      { note: { ...note, kind: 'inbound', at: at(1) } },
      { note: { ...note, contact: LONG, kind: 'inbound', at: at(0) } },
      { note: { ...note, contact: LONG, kind: 'failed', ...failed } },
    ]);
    const together = { inbound_at: at(1), failed };
    for (const wanted of [[SHORT], [LONG], [LONG, SHORT]]) {
      const found = await conversations.find(scope, wanted);
      for (const one of wanted) expect(found.get(one)).toEqual(together);
    }
    expect((await conversations.find(scope, ['551141234567'])).size).toBe(0);
  });

  test('are one contact, whose id is the upstream’s', async () => {
    await contacts.apply([learnt(SHORT, SHORT)]);
    await expect(contacts.find(WABA, LONG)).resolves.toEqual({ wa_id: SHORT });
    await expect(contacts.findIds(WABA, [LONG, '15550100777'])).resolves.toEqual(
      new Map([[LONG, SHORT]]),
    );
  });

  test('are two people if the upstream gave each an id of its own', async () => {
    await contacts.apply([
      learnt(SHORT, SHORT),
      learnt(LONG, LONG),
      { note: { ...note, kind: 'inbound', at: at(0) } },
      { note: { ...note, contact: LONG, kind: 'failed', ...failed } },
    ]);
    const found = await conversations.find(scope, [LONG, SHORT]);
    expect(found.get(SHORT)).toEqual({ inbound_at: at(0) });
    expect(found.get(LONG)).toEqual({ failed });
    await contacts.apply([
      { remove: { waba_id: WABA, phone: SHORT, at: at(1) } },
      { remove: { waba_id: WABA, phone: LONG, at: at(1), reported_as: SHORT } },
    ]);
    await expect(contacts.find(WABA, LONG)).resolves.toEqual({ wa_id: LONG });
  });

  test('are removed together, and the address book removes its own spelling', async () => {
    await contacts.apply([
      learnt(SHORT, SHORT),
      learnt(LONG, SHORT),
      { remove: { waba_id: WABA, phone: SHORT, at: at(1) } },
      { remove: { waba_id: WABA, phone: LONG, at: at(1), reported_as: SHORT } },
    ]);
    await expect(contacts.find(WABA, LONG)).resolves.toBeNull();
    await contacts.apply([
      learnt(SHORT, SHORT),
      { remove: { waba_id: WABA, phone: LONG, source: 'sync', at: at(1) } },
    ]);
    await expect(contacts.find(WABA, LONG)).resolves.toEqual({ wa_id: SHORT });
  });
});
