// The retention period is the one in deploy/DATA.md.
import { someContacts, storeBroadcast } from '../../test/builders';
import { useRig } from '../../test/rig';
import { eventually } from '../../../../test/testkit/eventually';
import { createMessagingDouble } from '../../test/worker';

const rig = useRig();
const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);

test('removes ended broadcasts that are older than 400 days with their chunks, and nothing else', async () => {
  const { broadcasts, chunks } = rig.stores;
  const stored = await Promise.all(
    [401, 399].map((days) =>
      storeBroadcast(rig.stores, someContacts(2), { created_at: daysAgo(days) }),
    ),
  );
  const scheduled = await storeBroadcast(rig.stores, someContacts(2), {
    created_at: daysAgo(401),
    scheduled_at: new Date(Date.now() + 3_600_000),
  });
  for (const { _id, partner_id } of stored) await broadcasts.change({ partner_id }, _id, 'cancel');
  const [old, young] = stored.map(({ _id }) => _id) as [number, number];

  await rig.worker({ messaging: createMessagingDouble() });
  await eventually(async () => (await broadcasts.load([old])).length === 0);
  expect(await chunks.load([`${old}/0`])).toEqual([]);
  expect(await chunks.contacts(`${old}/0`)).toBeNull();
  expect((await broadcasts.load([young, scheduled._id])).map(({ _id }) => _id).sort()).toEqual(
    [young, scheduled._id].sort(),
  );
  expect(await chunks.load([`${young}/0`, `${scheduled._id}/0`])).toHaveLength(2);
});
