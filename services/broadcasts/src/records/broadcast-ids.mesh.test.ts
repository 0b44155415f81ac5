import { aBroadcast } from '../../testing/builders';
import { useRig } from '../../testing/rig';
import { unique } from '../../testing/stores';
import { createBroadcastIds } from './broadcast-ids';
import { numberOf, type BroadcastIds } from '../ground/request-id';
import type { Broadcast } from '../ground/types';

const HOUR_MS = 3_600_000;
const rig = useRig();

/** A separate database, with replicas of this release and of the previous one. */
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
  const store = async (partner_id: string, ids: BroadcastIds): Promise<number> => {
    await broadcasts.insertOne(aBroadcast({ partner_id, ...ids }));
    // Ids of the same millisecond may be equal, and a creation draws again: here each has its own.
    now += 1;
    return numberOf(ids);
  };
  return {
    pass: (ms: number) => void (now += ms),
    replica: () => {
      const draw = createBroadcastIds(db, broadcasts, () => now);
      const create = async (partner_id: string) => store(partner_id, await draw(partner_id));
      return Object.assign(create, { draw: async (of: string) => numberOf(await draw(of)) });
    },
    /** Draws ids like the previous release. */
    oldReplica: () => async (partner_id: string) => {
      const before = await db
        .collection<{ _id: string; value: number }>('counters')
        .findOneAndUpdate(
          { _id: 'broadcast' },
          { $inc: { value: 1 } },
          { upsert: true, returnDocument: 'before' },
        );
      return store(partner_id, { _id: (before?.value ?? 0) + 1 });
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

test('during a rollout both releases draw from one counter; an hour later partners continue their own', async () => {
  const { replica, oldReplica, pass } = aDeployment();
  const [old, next] = [oldReplica(), replica()];
  const a = [await old('a'), await old('b'), await next('a'), await old('a'), await next('b')];
  expect(a).toEqual([1, 2, 3, 4, 5]);
  pass(HOUR_MS);
  expect(await next('a')).toBe(5);
  expect(await replica()('b')).toBe(6);
  expect(await next('a')).toBe(6);
  expect(await next('c')).toBe(1);
});

test('an old replica that still runs, or runs again, takes no number of the new release', async () => {
  const { replica, oldReplica, pass } = aDeployment();
  const [old, next] = [oldReplica(), replica()];
  const numbers = [await old('a'), await next('a')];
  pass(HOUR_MS);
  for (let round = 0; round < 5; round += 1) numbers.push(await next('a'), await old('a'));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(await next('a')).toBe(8);
});
