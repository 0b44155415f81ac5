import { aBroadcast, someContacts, storeBroadcast } from '../../test/builders';
import { useRig } from '../../test/rig';
import { unique } from '../../test/stores';
import { numberOf } from '../ground/request-id';
import type { Broadcast } from '../ground/types';

const rig = useRig();

const LATER = new Date(Date.now() + 3_600_000);
const scope = { partner_id: 'ptn_1' };

test('contacts are stored in chunks of 500 and read back unchanged', async () => {
  const contacts = someContacts(1_201).map((contact, at) =>
    at === 700 ? { ...contact, params: { '1': 'Ada $ and {{2}}' } } : contact,
  );
  const { _id, chunk_count } = await storeBroadcast(rig.stores, contacts);
  expect(chunk_count).toBe(3);
  const pages = await Promise.all(
    [0, 1, 2].map((at) => rig.stores.chunks.contacts(`${_id}/${at}`)),
  );
  expect(pages.map((page) => page?.length)).toEqual([500, 500, 201]);
  expect(pages.flat()).toEqual(contacts);
});

test('a chunk has one owner at a time, and can be claimed again once its lease has expired', async () => {
  const { _id } = await storeBroadcast(rig.stores, someContacts(1));
  const { chunks } = rig.stores;
  const at = (ms: number): Date => new Date(1_000_000 + ms);
  const claims = await Promise.all(
    ['a', 'b', 'c'].map((worker) => chunks.claim(`${_id}/0`, worker, at(0), at(100))),
  );
  expect(claims.filter(Boolean)).toHaveLength(1);
  const fence = claims.find(Boolean)?.fence ?? 0;
  await chunks.renew([{ id: `${_id}/0`, fence }], at(200));
  expect(await chunks.claim(`${_id}/0`, 'b', at(150), at(300))).toBeNull();
  expect(await chunks.claim(`${_id}/0`, 'b', at(200), at(300))).toMatchObject({
    fence: fence + 1,
    worker: 'b',
  });
  // The earlier owner can neither renew nor release the new lease.
  await chunks.renew([{ id: `${_id}/0`, fence }], at(900));
  await chunks.release(`${_id}/0`, fence);
  expect(await chunks.claim(`${_id}/0`, 'c', at(299), at(400))).toBeNull();
  await chunks.release(`${_id}/0`, fence + 1);
  expect(await chunks.claim(`${_id}/0`, 'c', at(299), at(400))).not.toBeNull();
});

test('drafts are invisible to partners', async () => {
  const { broadcasts } = rig.stores;
  const draft = aBroadcast({ ...(await broadcasts.newIds('ptn_1')), partner_id: unique('ptn_') });
  await broadcasts.insertDraft(draft);
  const own = { partner_id: draft.partner_id };
  expect(await broadcasts.find(own, numberOf(draft))).toBeNull();
  expect(await broadcasts.list(own, { limit: 10, offset: 0 })).toEqual({
    broadcasts: [],
    total: 0,
  });
  expect(await broadcasts.change(own, draft._id, 'cancel')).toBeNull();
  const soon = new Date(Date.now() + 1);
  const drafts = await broadcasts.inStateBefore('draft', 'created_at', soon, 100);
  expect(drafts).toContainEqual(draft);
});

test('moves due broadcasts to pending, and returns when the next one is due', async () => {
  const { broadcasts } = rig.stores;
  const now = new Date(Date.now() + 1_000_000);
  const at = (ms: number): Date => new Date(now.getTime() + ms);
  const [past, present, soon, later] = await Promise.all(
    [-5, 0, 400, 5_000].map((ms) =>
      storeBroadcast(rig.stores, someContacts(1), { scheduled_at: at(ms) }),
    ),
  );
  expect(await broadcasts.fallDue(now, at(1_000))).toEqual(at(400));
  const statuses = await broadcasts.load([past, present, soon, later].map((one) => one?._id ?? 0));
  expect(new Map(statuses.map(({ _id, status }) => [_id, status]))).toEqual(
    new Map([
      [past?._id, 'pending'],
      [present?._id, 'pending'],
      [soon?._id, 'scheduled'],
      [later?._id, 'scheduled'],
    ]),
  );
  expect(await broadcasts.fallDue(at(10_000), at(11_000))).toBeUndefined();
});

let last_many = 0;
/** Many broadcasts without contacts; returns their ids. */
async function storeMany(count: number, overrides: (at: number) => Partial<Broadcast>) {
  const last = (last_many += 1);
  // Ids from a counter would take a command each.
  const many = Array.from({ length: count }, (_, at) =>
    aBroadcast({ _id: last * 1e6 + at, ...overrides(at) }),
  );
  await rig.stores.db.collection<Broadcast>('broadcasts').insertMany(many);
  return many.map(({ _id }) => _id);
}

describe('a partner with thousands of broadcasts', () => {
  const HOG = 3_000;
  const partner = unique('ptn_');

  test('hides neither its own other numbers nor another partner, and is not read whole', async () => {
    const [hog, other, quiet] = [unique('n'), unique('n'), unique('n')];
    const stranger = { partner_id: unique('ptn_'), phone_number_id: quiet };
    const others: Array<Partial<Broadcast>> = [
      { partner_id: partner, phone_number_id: other },
      stranger,
      { ...stranger, status: 'scheduled', scheduled_at: LATER },
    ];
    const ids = await storeMany(HOG + others.length, (at) => ({
      status: 'pending',
      ...(others[at - HOG] ?? { partner_id: partner, phone_number_id: hog }),
    }));
    const asked = rig.stores.asked();
    const active = await rig.stores.broadcasts.activeByNumber(32);
    expect(active.get(hog)?.ids).toEqual(ids.slice(0, 32));
    expect(active.get(other)?.ids).toEqual([ids[HOG]]);
    expect(active.get(quiet)?.ids).toEqual([ids[HOG + 1]]);
    expect(rig.stores.asked().documents - asked.documents).toBeLessThan(HOG / 2);
  });

  test('that fall due together lets another partner’s follow at once', async () => {
    const { broadcasts, db } = rig.stores;
    const now = Date.now() + 50_000_000;
    const due = { status: 'scheduled' as const, scheduled_at: new Date(now) };
    await storeMany(HOG, () => ({ ...due, partner_id: partner }));
    const quiet = unique('ptn_');
    await storeMany(1, () => ({ ...due, scheduled_at: new Date(now + 1), partner_id: quiet }));
    await broadcasts.fallDue(new Date(now + 1), new Date(now + 1_000));
    const stored = db.collection<Broadcast>('broadcasts');
    expect(await stored.countDocuments({ partner_id: quiet, status: 'pending' })).toBe(1);
    expect(
      await stored.countDocuments({ partner_id: partner, status: 'scheduled' }),
    ).toBeGreaterThan(0);
  });
});

test('counts the waiting and paused broadcasts of a partner, up to the limit of the caller', async () => {
  const { broadcasts } = rig.stores;
  const partner_id = unique('ptn_');
  await broadcasts.insertDraft(aBroadcast({ ...(await broadcasts.newIds('ptn_1')), partner_id }));
  await storeBroadcast(rig.stores, [], { partner_id, scheduled_at: LATER });
  const pending = await storeBroadcast(rig.stores, [], { partner_id });
  expect(await broadcasts.countWaiting(partner_id, 10)).toBe(3);
  expect(await broadcasts.countWaiting(partner_id, 2)).toBe(2);
  await broadcasts.move(pending._id, 'start');
  expect(await broadcasts.countWaiting(partner_id, 10)).toBe(2);
  await broadcasts.move(pending._id, 'pause');
  expect(await broadcasts.countWaiting(partner_id, 10)).toBe(3);
});

test('keeps the first reason to stop, and only for an active broadcast', async () => {
  const { broadcasts } = rig.stores;
  const { _id } = await storeBroadcast(rig.stores, someContacts(1));
  await broadcasts.stop(_id, { code: '190', message: 'token' });
  await broadcasts.stop(_id, { code: '132015', message: 'paused' });
  expect((await rig.load(_id)).stop).toEqual({ code: '190', message: 'token' });
  const ended = await storeBroadcast(rig.stores, someContacts(1));
  await broadcasts.change(scope, ended._id, 'cancel');
  await broadcasts.stop(ended._id, { code: '190', message: 'token' });
  expect((await rig.load(ended._id)).stop).toBeNull();
});

test('an Idempotency-Key can be used once, and again after it is released', async () => {
  const { broadcasts } = rig.stores;
  const idempotency = unique('ptn_1/');
  const insert = async () =>
    broadcasts.insertDraft(
      aBroadcast({ ...(await broadcasts.newIds('ptn_1')), idempotency, fingerprint: 'f' }),
    );
  expect(await insert()).toBe('stored');
  expect(await insert()).toBe('taken');
  const found = await broadcasts.findByKey([idempotency]);
  await broadcasts.releaseKey(found?._id ?? 0);
  expect(await insert()).toBe('stored');
});

test('keeps the newest status of a template when events arrive late', async () => {
  const { states } = rig.stores;
  const event = (status: string, timestamp: number) => ({
    message: {
      occurrence_id: status,
      event: 'template.status_updated',
      internal: false,
      waba_id: '800',
      timestamp,
      data: JSON.stringify({ status, template_name: 'order', template_language: 'en_US' }),
      received_at_ms: 1,
      partner_ids: [],
    },
    key: '',
    span: undefined,
    partition: 0,
    offset: '0',
  });
  const template = { name: 'order', language: 'en_US' };
  expect(await states.statusOf('800', template)).toBeUndefined();
  await states.apply([event('APPROVED', 10), event('PAUSED', 20)]);
  await states.apply([event('APPROVED', 15)]);
  expect(await states.statusOf('800', template)).toBe('PAUSED');
  expect(await states.statusOf('801', template)).toBeUndefined();
});
