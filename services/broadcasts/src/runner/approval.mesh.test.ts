import { someContacts, storeBroadcast } from '../../test/builders';
import { useRig } from '../../test/rig';
import { aCredential, createMessagingDouble } from '../../test/worker';
import { approveBroadcast } from '../partner-changes';
import type { Broadcast } from '../ground/types';

const rig = useRig();

const credentials = () => aCredential({ is_on_biz_app: false });
const scope = { partner_id: 'ptn_1' };
/** Longer than a worker takes to find new work. */
const NOTICED_MS = 2_500;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const waiting = (contacts: number, given: Partial<Broadcast> = {}) =>
  storeBroadcast(rig.stores, someContacts(contacts), {
    approval: { created_by: 'per_1', approved_by: null, approved_at: null },
    ...given,
  });
const approve = (number: number, person_id = 'per_2') =>
  approveBroadcast(
    rig.stores.broadcasts,
    { ...scope, broadcast_id: number, caller_person_id: person_id },
    new Date(),
  );
const cancel = (id: number) => rig.stores.broadcasts.change(scope, id, 'cancel');

test('sends nothing before the approval, and everything once after it', async () => {
  const messaging = createMessagingDouble(5);
  const { _id } = await waiting(30, { phone_number_id: 'a1' });
  const worker = await rig.worker({ messaging, credentials });
  await pause(NOTICED_MS);
  expect(messaging.sent).toEqual([]);
  expect(worker.runner.isActive('a1')).toBe(false);
  expect(await rig.load(_id)).toMatchObject({ status: 'awaiting_approval', started_at: null });
  await approve(_id);
  const completed = await rig.until(_id, 'completed');
  expect(completed.approval).toMatchObject({ created_by: 'per_1', approved_by: 'per_2' });
  expect(new Set(messaging.recipients()).size).toBe(30);
  expect(messaging.sent).toHaveLength(30);
});

test('a scheduled one starts at its time, or at once if that has passed', async () => {
  const messaging = createMessagingDouble(5);
  const past = await waiting(2, {
    phone_number_id: 'a3',
    scheduled_at: new Date(Date.now() - 60_000),
  });
  const later = await waiting(2, {
    phone_number_id: 'a4',
    scheduled_at: new Date(Date.now() + 3_600_000),
  });
  await rig.worker({ messaging, credentials });
  await pause(NOTICED_MS);
  expect(messaging.sent).toEqual([]);
  for (const { _id } of [past, later]) await approve(_id);
  await rig.until(past._id, 'completed');
  expect(await rig.load(later._id)).toMatchObject({ status: 'scheduled', started_at: null });
  expect(messaging.sent).toHaveLength(2);
});

test('of an approval and a cancellation that race, one wins', async () => {
  for (let round = 0; round < 20; round += 1) {
    const { _id } = await waiting(1, { phone_number_id: 'a5' });
    const approved = approve(_id).then(
      () => true,
      (error: { code: string }) => {
        expect(error.code).toBe('CANNOT_APPROVE');
        return false;
      },
    );
    const cancelled = cancel(_id);
    const won = await approved;
    // A pending broadcast can be cancelled too.
    expect(await cancelled).toMatchObject({ status: 'cancelled' });
    const { status, approval } = await rig.load(_id);
    expect(status).toBe('cancelled');
    expect(approval?.approved_by).toBe(won ? 'per_2' : null);
  }
});

test('two approvals at once succeed, and the first one stays', async () => {
  const { _id } = await waiting(1, { phone_number_id: 'a6' });
  await Promise.all([approve(_id, 'per_2'), approve(_id, 'per_3')]);
  const { approval } = await rig.load(_id);
  await approve(_id, 'per_4');
  expect((await rig.load(_id)).approval).toEqual(approval);
});
