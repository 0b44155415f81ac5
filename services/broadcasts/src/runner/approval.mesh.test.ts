// Approvals that race, and when an approved broadcast starts. `service.mesh.test.ts` proves that
// nothing is sent before the approval.
import { useRig } from '../../test/rig';
import { approveBroadcast } from '../partner-changes';
import type { Broadcast } from '../ground/types';

const rig = useRig();

const waiting = (given: Partial<Broadcast> = {}) =>
  rig.broadcast(1, {
    approval: { created_by: 'per_1', approved_by: null, approved_at: null },
    ...given,
  });
const approve = (broadcast_id: number, caller_person_id = 'per_2') =>
  approveBroadcast(
    rig.stores.broadcasts,
    { partner_id: 'ptn_1', broadcast_id, caller_person_id },
    new Date(),
  );

test.each([
  ['at once', 'pending', null],
  ['at once if its time has passed', 'pending', -60_000],
  ['at its time', 'scheduled', 3_600_000],
])('an approved broadcast starts %s', async (_name, status, delay_ms) => {
  const scheduled_at = delay_ms === null ? null : new Date(Date.now() + delay_ms);
  const { _id } = await waiting({ scheduled_at });
  await approve(_id);
  expect(await rig.load(_id)).toMatchObject({ status, started_at: null });
});

test('of an approval and a cancellation that race, one wins', async () => {
  for (let round = 0; round < 20; round += 1) {
    const stored = await waiting();
    const { _id } = stored;
    const approved = approve(_id).then(
      () => true,
      (error: { code: string }) => {
        expect(error.code).toBe('CANNOT_APPROVE');
        return false;
      },
    );
    const cancelled = rig.stores.broadcasts.change(stored, _id, 'cancel');
    const won = await approved;
    // A pending broadcast can be cancelled too.
    expect(await cancelled).toMatchObject({ status: 'cancelled' });
    const { status, approval } = await rig.load(_id);
    expect(status).toBe('cancelled');
    expect(approval?.approved_by).toBe(won ? 'per_2' : null);
    await expect(approve(_id)).rejects.toMatchObject({
      code: 'CANNOT_APPROVE',
      message: 'the broadcast is cancelled',
    });
  }
});

test('two approvals at once succeed, and the first one stays', async () => {
  const { _id } = await waiting();
  await Promise.all([approve(_id, 'per_2'), approve(_id, 'per_3')]);
  const { approval } = await rig.load(_id);
  await approve(_id, 'per_4');
  expect((await rig.load(_id)).approval).toEqual(approval);
});
