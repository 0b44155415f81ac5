import { someContacts, storeBroadcast } from '../../test/builders';
import { useRig } from '../../test/rig';
import { tallyOf, type Change } from '../ground/contact-state';
import { StateWriter } from './state-writer';

const rig = useRig();

const aChunk = async (count: number) => {
  const { _id, salt } = await storeBroadcast(rig.stores, someContacts(count));
  return { id: `${_id}/0`, salt };
};
const stored = async (id: string) => {
  const [chunk] = await rig.stores.chunks.load([id]);
  if (!chunk) throw new Error('no such chunk');
  return chunk;
};
const told = (index: number): Change => ({ index, event: 'status_delivered' });

test('replicas do not overwrite each other, and repeated changes count once', async () => {
  const { id, salt } = await aChunk(60);
  const stateWriters = [1, 2, 3].map(() => new StateWriter(rig.stores.chunks));
  await Promise.all(
    stateWriters.flatMap((stateWriter) =>
      Array.from({ length: 60 }, (_, index) => stateWriter.apply(id, [told(index)], { salt })),
    ),
  );
  const { progress } = await stored(id);
  expect(progress.tally).toMatchObject({ sent: 60, delivered: 60, waiting: 0 });
  expect(progress.tally).toEqual(tallyOf(progress.states));
  expect(progress.done).toBe(true);
});

test('of several concurrent marks of one contact exactly one succeeds', async () => {
  const { id } = await aChunk(1);
  const stateWriters = [1, 2, 3, 4].map(() => new StateWriter(rig.stores.chunks));
  const applied = await Promise.all(
    stateWriters.map((stateWriter) =>
      stateWriter.apply(id, [{ index: 0, event: 'mark' }], { fence: 0 }),
    ),
  );
  expect(applied.filter(({ moved }) => moved[0])).toHaveLength(1);
});

test('refuses an owner whose chunk was claimed by another worker', async () => {
  const { id, salt } = await aChunk(3);
  const stateWriter = new StateWriter(rig.stores.chunks);
  const now = new Date();
  const mine = await rig.stores.chunks.claim(id, 'me', now, new Date(now.getTime() + 10));
  if (!mine) throw new Error('not claimed');
  stateWriter.adopt(mine);
  const other = await rig.stores.chunks.claim(id, 'other', new Date(now.getTime() + 20), now);
  expect(other?.fence).toBe(mine.fence + 1);
  const mark: Change[] = [{ index: 0, event: 'mark' }];
  expect(await stateWriter.apply(id, mark, { fence: mine.fence })).toMatchObject({
    refused: true,
    moved: [false],
  });
  // The answer to a send counts even after another worker has taken over the chunk.
  expect(await stateWriter.apply(id, [{ index: 1, event: 'sent' }], { salt })).toMatchObject({
    moved: [true],
  });
});

test('events of another or an unknown broadcast have no effect', async () => {
  const { id } = await aChunk(1);
  const stateWriter = new StateWriter(rig.stores.chunks);
  expect(await stateWriter.apply(id, [told(0)], { salt: 'another' })).toMatchObject({
    refused: true,
  });
  expect(await stateWriter.apply('999999/0', [told(0)])).toEqual({
    moved: [false],
    chunk: undefined,
    refused: false,
  });
  expect((await stored(id)).progress.rev).toBe(0);
});

const FORGED = [
  ['another partner', { partner_id: 'ptn_2', phone_number_id: '700' }],
  ['another number', { partner_id: 'ptn_1', phone_number_id: '701' }],
] as const;
const OWNER = { partner_id: 'ptn_1', phone_number_id: '700' };

/** In the form of the previous release: only the broadcast names the owner of the contacts. */
const withoutOwner = (): Promise<unknown> =>
  rig.stores.db.collection('chunks').updateMany({}, { $unset: { owner: '' } });

describe.each([
  ['a chunk', async () => undefined],
  ['a chunk of an earlier release', withoutOwner],
])('%s', (_name, prepare) => {
  test.each(FORGED)('refuses the statuses of %s', async (_of, owner) => {
    const { id, salt } = await aChunk(2);
    await prepare();
    const stateWriter = new StateWriter(rig.stores.chunks);
    for (const event of ['status_sent', 'status_delivered', 'status_failed'] as const) {
      const applied = await stateWriter.apply(id, [{ index: 0, event }], { salt, owner });
      expect(applied).toMatchObject({ refused: true, moved: [false] });
    }
    expect((await stored(id)).progress).toMatchObject({ states: 'ww', failures: [], rev: 0 });
    const own = await stateWriter.apply(id, [told(1)], { salt, owner: OWNER });
    expect(own).toMatchObject({ refused: false, moved: [true] });
  });

  test('refuses them also once a worker has claimed it', async () => {
    const { id, salt } = await aChunk(1);
    await prepare();
    const stateWriter = new StateWriter(rig.stores.chunks);
    const claimed = await rig.stores.chunks.claim(id, 'me', new Date(), new Date());
    if (!claimed) throw new Error('not claimed');
    stateWriter.adopt(claimed);
    const apply = (owner: typeof OWNER) => stateWriter.apply(id, [told(0)], { salt, owner });
    expect(await apply(FORGED[0][1])).toMatchObject({ refused: true });
    expect(await apply(OWNER)).toMatchObject({ moved: [true] });
  });
});

test('changes without effect are not written', async () => {
  const { id, salt } = await aChunk(1);
  const stateWriter = new StateWriter(rig.stores.chunks);
  await stateWriter.apply(id, [told(0)], { salt });
  const { progress } = await stored(id);
  await Promise.all(
    [1, 2, 3].map(() =>
      stateWriter.apply(id, [told(0), { index: 0, event: 'status_sent' }], { salt }),
    ),
  );
  expect((await stored(id)).progress).toEqual(progress);
});

test('a write whose answer was lost can be repeated', async () => {
  const { id, salt } = await aChunk(2);
  let lose = true;
  const stateWriter = new StateWriter({
    load: (ids) => rig.stores.chunks.load(ids),
    async swap(swaps) {
      const matched = await rig.stores.chunks.swap(swaps);
      if (lose) throw new Error('the connection broke');
      return matched;
    },
  });
  await expect(stateWriter.apply(id, [{ index: 0, event: 'mark' }], { fence: 0 })).rejects.toThrow(
    'broke',
  );
  lose = false;
  // Whether stored or not: the holder of the lease releases it, and it waits again.
  await stateWriter.apply(id, [{ index: 0, event: 'release' }], { fence: 0 });
  await stateWriter.apply(id, [told(1)], { salt });
  expect((await stored(id)).progress.states).toBe('wd');
});
