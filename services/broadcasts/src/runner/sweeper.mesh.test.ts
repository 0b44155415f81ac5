// The periods are those in deploy/DATA.md.
import { useRig } from '../../test/rig';
import { createMessagingDouble, quiet } from '../../test/worker';
import { eventually } from '../../../../test/testkit/eventually';
import { APPROVAL_MAX_MS, PAUSED_MAX_MS } from '../ground/broadcast-machine';
import type { Broadcast } from '../ground/types';
import { sweep } from './sweeper';

const rig = useRig();
const { broadcasts, chunks } = rig.stores;
const ago = (ms: number): Date => new Date(Date.now() - ms);
const store = (given: Partial<Broadcast>) => rig.broadcast(3, given);

async function paused(at: Date): Promise<Broadcast> {
  const stored = await store({});
  await broadcasts.move(stored._id, 'start', { started_at: at });
  await broadcasts.change(stored, stored._id, 'pause', { paused_at: at });
  return stored;
}
const unapproved = (created_at: Date): Promise<Broadcast> =>
  store({ created_at, approval: { created_by: 'per_1', approved_by: null, approved_at: null } });

test.each([
  ['paused', paused, PAUSED_MAX_MS, 'pause_expired', 'it was paused for seven days'],
  [
    'awaiting_approval',
    unapproved,
    APPROVAL_MAX_MS,
    'approval_expired',
    'it was not approved within seven days',
  ],
])(
  'cancels a broadcast that is %s for too long, with the reason, and deletes its contacts',
  async (status, waiting, max_ms, code, message) => {
    const old = await waiting(ago(max_ms + 1_000));
    const young = await waiting(ago(max_ms - 60_000));
    await sweep({ ...rig.stores, log: quiet });
    expect(await rig.load(old._id)).toMatchObject({ status: 'cancelled', stop: { code, message } });
    expect(await chunks.contacts(`${old._id}/0`)).toBeNull();
    expect(await rig.load(young._id)).toMatchObject({ status });
    expect(await chunks.contacts(`${young._id}/0`)).toHaveLength(3);
  },
);

test('removes ended broadcasts that are older than 400 days with their chunks, and nothing else', async () => {
  const ended = await Promise.all(
    [401, 399].map((days) => store({ created_at: ago(days * 86_400_000) })),
  );
  const scheduled = await store({
    created_at: ago(401 * 86_400_000),
    scheduled_at: new Date(Date.now() + 3_600_000),
  });
  for (const one of ended) await broadcasts.change(one, one._id, 'cancel');
  const [old, young] = ended.map(({ _id }) => _id) as [number, number];
  await rig.worker({ messaging: createMessagingDouble() });
  await eventually(async () => (await broadcasts.load([old])).length === 0);
  expect(await chunks.load([`${old}/0`])).toEqual([]);
  expect(await chunks.contacts(`${old}/0`)).toBeNull();
  expect(await broadcasts.load([young, scheduled._id])).toHaveLength(2);
  expect(await chunks.load([`${young}/0`, `${scheduled._id}/0`])).toHaveLength(2);
});
