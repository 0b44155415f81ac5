import { aBroadcast } from '../../test/builders';
import { useRig } from '../../test/rig';
import { unique } from '../../test/stores';
import { createBroadcastIds } from './broadcast-ids';
import { numberOf } from '../ground/request-id';
import type { Broadcast } from '../ground/types';

const { stores } = useRig();
const broadcasts = stores.db.collection<Broadcast>('broadcasts');

let now = Date.now();
/** Stores a broadcast as one of several replicas; returns its number. */
function aReplica() {
  const draw = createBroadcastIds(stores.db, broadcasts, () => now);
  return async (partner_id: string): Promise<number> => {
    const ids = await draw(partner_id);
    // The internal ids fit into request ids, and do not count.
    expect(String(ids._id)).toMatch(/^\d{15}$/);
    await broadcasts.insertOne(aBroadcast({ partner_id, ...ids }));
    // Ids of the same millisecond may be equal, and a creation draws again.
    now += 1;
    return numberOf(ids);
  };
}
const [one, other] = [aReplica(), aReplica()];

test('concurrent creations of one partner get different numbers without gaps', async () => {
  const partner = unique('ptn_');
  const draws = [1, 2].map(() => createBroadcastIds(stores.db, broadcasts));
  const drawn = await Promise.all(
    Array.from({ length: 20 }, () => draws.map((draw) => draw(partner))).flat(),
  );
  expect(drawn.map(numberOf).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 40 }, (_unused, at) => at + 1),
  );
});

test('a partner continues above the numbers of broadcasts that a release before 2.10.0 stored', async () => {
  const [a, b] = [unique('ptn_'), unique('ptn_')];
  await broadcasts.insertMany(
    [a, b, a].map((partner_id, at) => aBroadcast({ partner_id, _id: at + 1 })),
  );
  expect([await one(a), await other(b), await other(a), await one(unique('ptn_'))]).toEqual([
    4, 3, 5, 1,
  ]);
});
