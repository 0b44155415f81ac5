import { aBroadcast } from '../../test/builders';
import { useRig } from '../../test/rig';
import { unique } from '../../test/stores';
import { createBroadcastIds } from './broadcast-ids';
import { numberOf } from '../ground/request-id';
import type { Broadcast } from '../ground/types';

const rig = useRig();

/** A separate database, with replicas. */
function aDeployment() {
  const name = unique('ids');
  // The stores of the rig share one database: a prefix on the collections keeps the cases apart.
  const db = new Proxy(rig.stores.db, {
    get: (target, key) =>
      key === 'collection'
        ? (collection: string) => target.collection(`${name}_${collection}`)
        : (Reflect.get(target, key) as unknown),
  });
  const broadcasts = db.collection<Broadcast>('broadcasts');
  let now = Date.now();
  return {
    broadcasts,
    replica: () => {
      const draw = createBroadcastIds(db, broadcasts, () => now);
      const create = async (partner_id: string): Promise<number> => {
        const ids = await draw(partner_id);
        await broadcasts.insertOne(aBroadcast({ partner_id, ...ids }));
        // Ids of the same millisecond may be equal, and a creation draws again: here each has its own.
        now += 1;
        return numberOf(ids);
      };
      return Object.assign(create, { draw: async (of: string) => numberOf(await draw(of)) });
    },
    ids: async () => (await broadcasts.find().toArray()).map(({ _id }) => _id),
  };
}

test('in a new database the partners count independently of each other, from 1', async () => {
  const { replica, ids } = aDeployment();
  const [one, other] = [replica(), replica()];
  expect(await one('a')).toBe(1);
  expect(await one('a')).toBe(2);
  expect(await other('b')).toBe(1);
  expect(await other('a')).toBe(3);
  expect(await one('b')).toBe(2);
  // The internal ids fit into request ids, and do not count.
  for (const id of await ids()) expect(String(id)).toMatch(/^\d{15}$/);
});

test('concurrent creations of one partner get different numbers without gaps', async () => {
  const { replica } = aDeployment();
  // Internal ids of the same millisecond may be equal, and a creation draws again: nothing is
  // stored here.
  const [one, other] = [replica(), replica()];
  const numbers = await Promise.all(
    Array.from({ length: 40 }, (_unused, at) => (at % 2 === 0 ? one : other).draw('a')),
  );
  expect(numbers.sort((a, b) => a - b)).toEqual(
    Array.from({ length: 40 }, (_unused, at) => at + 1),
  );
});

test('a partner continues above the numbers of broadcasts that a release before 2.10.0 stored', async () => {
  const { replica, broadcasts } = aDeployment();
  await broadcasts.insertMany(
    ['a', 'b', 'a'].map((partner_id, at) => aBroadcast({ partner_id, _id: at + 1 })),
  );
  const [one, other] = [replica(), replica()];
  expect([await one('a'), await other('b'), await other('a'), await one('c')]).toEqual([
    4, 3, 5, 1,
  ]);
});
