import { topics } from '@bmg/common/bus';
import { aStatus, phone } from '../test/builders';
import { TARGET, useService } from '../test/service';
import { unique } from '../test/stores';
import { eventually } from '../../../test/testkit/eventually';

const rig = useService();
const LATER = new Date(Date.now() + 3_600_000);
const OWN = { partner_id: 'ptn_1' };

type Scope = { partner_id?: string; waba_id?: string };
const change =
  (method: 'cancelBroadcast' | 'pauseBroadcast' | 'resumeBroadcast') =>
  (broadcast_id: number, of: Scope = {}) =>
    rig.rpc[method]({ ...OWN, ...of, broadcast_id }, rig.call());
const [cancel, pause, resume] = [
  change('cancelBroadcast'),
  change('pauseBroadcast'),
  change('resumeBroadcast'),
];
const shown = async (id: number, of?: string) => (await rig.get(id, of)).broadcast;

test('a broadcast runs from creation to completion, and each status counts once', async () => {
  const from = rig.messaging.sent.length;
  const contacts = Array.from({ length: 60 }, (_, at) => ({ recipient: phone(at) }));
  const created = await rig.create({ contacts: [...contacts, { recipient: phone(3) }, {}] });
  expect(created).toMatchObject({ status: 'pending', total: 60, skipped: 1, duplicates: 1 });
  const { broadcast, progress } = await rig.completed(created.broadcast_id);
  expect(progress).toBe(100);
  expect(broadcast).toMatchObject({ total: 60, sent: 60, failed: 0, delivered: 0 });
  await rig.bus.publish(
    rig.messaging.sent.slice(from).flatMap(({ request_id }) =>
      ['read', 'sent', 'delivered', 'delivered'].map((status) => ({
        topic: topics.status,
        key: '700',
        message: aStatus(status, { opaque: `bmg1:ptn_1:${request_id}` }).message,
      })),
    ),
  );
  await eventually(async () => (await shown(created.broadcast_id))?.delivered === 60);
  expect(await shown(created.broadcast_id)).toMatchObject({ sent: 60, delivered: 60 });
});

test('cancels once or twice, and refuses a late cancel, an unknown and a foreign broadcast', async () => {
  const { broadcast_id: id } = await rig.create({ scheduled_at: LATER });
  await expect(cancel(id, { partner_id: 'ptn_2' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(cancel(id, { waba_id: '801' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await cancel(id, { waba_id: '800' });
  await cancel(id);
  expect(await shown(id)).toMatchObject({ status: 'cancelled', sent: 0, failed: 0 });
  expect((await rig.get(id)).progress).toBe(0);
  const now = await rig.create();
  await rig.completed(now.broadcast_id);
  await expect(cancel(now.broadcast_id)).rejects.toMatchObject({
    code: 'CANNOT_CANCEL',
    http: 409,
  });
  await expect(cancel(999_999)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(rig.get(now.broadcast_id, 'ptn_2')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('pauses and resumes once or twice, and refuses what has not started or has ended', async () => {
  const refused = (code: string, message: RegExp) =>
    expect.objectContaining({ code, http: 409, message: expect.stringMatching(message) });

  const contacts = Array.from({ length: 3_000 }, (_, at) => ({ recipient: phone(at) }));
  const { broadcast_id: id } = await rig.create({ contacts });
  await eventually(async () => (await shown(id))?.status === 'processing');
  await expect(resume(id, { partner_id: 'ptn_2' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(pause(id, { waba_id: '801' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await resume(id);
  await pause(id);
  const paused = await shown(id);
  expect(paused).toMatchObject({ status: 'processing', paused_at: expect.any(Date) });
  await pause(id);
  expect((await shown(id))?.paused_at).toEqual(paused?.paused_at);
  await resume(id);
  expect((await shown(id))?.paused_at).toBeUndefined();
  await pause(id);
  await cancel(id);
  const cancelled = await shown(id);
  expect(cancelled).toMatchObject({ status: 'cancelled', paused_at: expect.any(Date) });
  expect(cancelled?.sent).toBeLessThan(3_000);
  await expect(pause(id)).rejects.toEqual(refused('CANNOT_PAUSE', /already cancelled/));
  await expect(resume(id)).rejects.toEqual(refused('CANNOT_RESUME', /already cancelled/));

  const { broadcast_id: later } = await rig.create({ scheduled_at: LATER });
  await expect(pause(later)).rejects.toEqual(refused('CANNOT_PAUSE', /is scheduled: cancel it/));
  await expect(resume(later)).rejects.toEqual(refused('CANNOT_RESUME', /is scheduled, not paused/));
  await cancel(later);
});

describe('a broadcast that needs approval', () => {
  const large = { contacts: [1, 2, 3].map((at) => ({ recipient: phone(at) })), approval_above: 2 };
  const approve = (broadcast_id: number, caller_person_id?: string, of: Scope = {}) =>
    rig.rpc.approveBroadcast({ ...OWN, ...of, broadcast_id, caller_person_id }, rig.call());

  test('waits, and runs once a second person has approved it', async () => {
    const from = rig.messaging.sent.length;
    const created = await rig.create({ ...large, caller_person_id: 'per_1' });
    const { broadcast_id: id } = created;
    expect(created).toMatchObject({
      status: 'pending',
      total: 3,
      approval: { state: 'waiting', created_by: 'per_1', ends_at: expect.any(Date) },
    });
    expect(await shown(id)).toMatchObject({ status: 'pending', approval: created.approval });
    const { broadcasts } = await rig.rpc.listBroadcasts(
      { ...OWN, limit: 1, offset: 0 },
      rig.call(),
    );
    expect(broadcasts).toMatchObject([{ id, status: 'pending', approval: { state: 'waiting' } }]);
    await expect(approve(id)).rejects.toMatchObject({ code: 'PERSON_REQUIRED', http: 403 });
    await expect(approve(id, 'per_1')).rejects.toMatchObject({
      code: 'SECOND_PERSON_REQUIRED',
      http: 403,
    });
    for (const other of [{ partner_id: 'ptn_2' }, { waba_id: '801' }]) {
      await expect(approve(id, 'per_2', other)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    await expect(pause(id)).rejects.toMatchObject({
      code: 'CANNOT_PAUSE',
      message: 'the broadcast waits for approval',
    });
    // Longer than a worker takes to find new work.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(rig.messaging.sent).toHaveLength(from);
    expect((await shown(id))?.started_at).toBeUndefined();
    await approve(id, 'per_2');
    await approve(id, 'per_3');
    await rig.completed(id);
    await approve(id, 'per_3');
    expect(rig.messaging.sent).toHaveLength(from + 3);
    expect((await shown(id))?.approval).toEqual({
      state: 'approved',
      created_by: 'per_1',
      approved_by: 'per_2',
      approved_at: expect.any(Date),
    });
  });

  test('counts the contacts that will be attempted, and none at exactly the size', async () => {
    const [first, second] = large.contacts;
    const created = await rig.create({
      ...large,
      contacts: [first, second, second, {}] as typeof large.contacts,
    });
    expect([created.total, created.approval]).toEqual([2, undefined]);
    await rig.completed(created.broadcast_id);
    await expect(approve(created.broadcast_id, 'per_2')).rejects.toMatchObject({
      code: 'CANNOT_APPROVE',
      http: 409,
      message: 'the broadcast needs no approval',
    });
    expect((await shown(created.broadcast_id))?.approval).toBeUndefined();
  });

  test('a repeated creation answers as the first one did, also after the approval', async () => {
    const idempotency = { key: unique('key-'), fingerprint: 'x' };
    const first = await rig.create(large, { idempotency });
    await approve(first.broadcast_id, 'per_2');
    await rig.completed(first.broadcast_id);
    expect(await rig.create(large, { idempotency })).toEqual(first);
    expect(first.approval).toMatchObject({ state: 'waiting' });
  });
});

test('names the request ids of a broadcast for its own partner and account only', async () => {
  const from = rig.messaging.sent.length;
  const { broadcast_id } = await rig.create();
  await rig.completed(broadcast_id);
  const find = (of: { partner_id: string; waba_id?: string }) =>
    rig.rpc.findBroadcast({ ...of, broadcast_id }, rig.call());
  const { request_id_prefix, started_at } = await find({ partner_id: 'ptn_1', waba_id: '800' });
  expect(started_at).toBeInstanceOf(Date);
  expect(rig.messaging.sent.slice(from).map(({ request_id }) => request_id)).toEqual([
    expect.stringMatching(new RegExp(`^${request_id_prefix}`)),
  ]);
  for (const other of [{ partner_id: 'ptn_2' }, { partner_id: 'ptn_1', waba_id: '801' }]) {
    await expect(find(other)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  }
});

test('lists the partner’s own broadcasts, newest first, by page and account', async () => {
  const partner_id = unique('ptn_');
  const mine = (waba_id: string) =>
    rig.create({ target: { ...TARGET, partner_id, waba_id }, scheduled_at: LATER });
  const ids: number[] = [];
  for (const waba_id of ['a', 'b', 'a', 'a']) ids.push((await mine(waba_id)).broadcast_id);
  const list = async (page: { waba_id?: string; limit: number; offset: number }) => {
    const { broadcasts, total } = await rig.rpc.listBroadcasts({ partner_id, ...page }, rig.call());
    return { ids: broadcasts.map(({ id }) => id), total };
  };
  expect(await list({ limit: 20, offset: 0 })).toEqual({ ids: ids.toReversed(), total: 4 });
  expect(await list({ limit: 2, offset: 1 })).toEqual({ ids: [ids[2], ids[1]], total: 4 });
  expect(await list({ waba_id: 'b', limit: 20, offset: 0 })).toEqual({ ids: [ids[1]], total: 1 });
});

test('numbers the broadcasts of each partner from 1, and keeps the same number of two partners apart', async () => {
  const partners = [unique('ptn_'), unique('ptn_')] as const;
  const create = (partner_id: string, name: string) =>
    rig.create({ target: { ...TARGET, partner_id }, name, scheduled_at: LATER });
  expect((await create(partners[0], 'one')).broadcast_id).toBe(1);
  expect((await create(partners[0], 'two')).broadcast_id).toBe(2);
  expect((await create(partners[1], 'other')).broadcast_id).toBe(1);
  expect(await shown(1, partners[0])).toMatchObject({ id: 1, name: 'one' });
  expect(await shown(1, partners[1])).toMatchObject({ id: 1, name: 'other' });
  await cancel(1, { partner_id: partners[1] });
  expect((await shown(1, partners[0]))?.status).toBe('scheduled');
  expect((await shown(1, partners[1]))?.status).toBe('cancelled');
});
