import { useRig } from '../../test/build';
import { upstreamError } from '../../test/upstream-stub';

const rig = useRig();

const items = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ id: String(from + index) }));
const page = (count: number, after?: string) => ({
  data: items(count),
  paging: { cursors: { after: after ?? 'last' }, ...(after && { next: 'https://upstream/next' }) },
});
const limits = () => rig.upstream.asked.map(({ query }) => query['limit']);

describe('the activity log', () => {
  const list = (limit?: number) => rig.run('listActivities', { limit });

  test('needs two requests above the upstream’s page size', async () => {
    rig.upstream.answers(page(100, 'a1'), page(50, 'a2'));
    const reply = await list(150);
    expect(reply.items).toHaveLength(150);
    expect(limits()).toEqual(['100', '50']);
    expect(rig.upstream.asked[1]?.query['after']).toBe('a1');
    expect(reply.limit).toBe(150);
  });

  test('returns at most 200 entries and reports the lowered limit', async () => {
    rig.upstream.answers(page(100, 'a1'), page(100, 'a2'));
    const reply = await list(1_000);
    expect(reply.items).toHaveLength(200);
    expect(reply.limit).toBe(200);
    expect(rig.upstream.asked).toHaveLength(2);
  });

  test('has a cursor for the rest if it is cut off, and none otherwise', async () => {
    rig.upstream.answers(page(100, 'a1'), page(100, 'a2'));
    expect((await list(200)).after).toBe('a2');
    rig.upstream.answers(page(25));
    expect((await list()).after).toBeUndefined();
    rig.upstream.answers(page(25));
    expect((await list(200)).after).toBeUndefined();
  });
});

describe('a list without paging for the caller', () => {
  const flows = () => rig.run('listFlows');

  test('stops at its limit and returns the cursor of the rest', async () => {
    rig.upstream.answers(...Array.from({ length: 30 }, (_, index) => page(100, `a${index}`)));
    const reply = await flows();
    expect(reply.items).toHaveLength(2_000);
    expect(reply.after).toBe('a19');
    expect(rig.upstream.asked).toHaveLength(20);
  });

  test('stops even if all pages are empty', async () => {
    rig.upstream.answers(...Array.from({ length: 120 }, (_, index) => page(0, `a${index}`)));
    const reply = await flows();
    expect(reply.items).toEqual([]);
    expect(rig.upstream.asked).toHaveLength(100);
  });
});

describe('assigned users', () => {
  const users = (business_id?: string) => rig.run('listAssignedUsers', { business_id });
  const asked = () => rig.upstream.asked.at(-1)?.query['business'];

  test('are those of the requested business', async () => {
    rig.upstream.answers(page(1));
    await users('77');
    expect(asked()).toBe('77');
  });

  test('are those of the owner if no business was recorded at registration', async () => {
    rig.directory.credential = { business_id: undefined };
    rig.upstream.answers({ owner_business_info: { name: 'Example Ltd', id: '66' } }, page(1));
    await users();
    expect(rig.upstream.asked[0]?.query).toEqual({ fields: 'owner_business_info' });
    expect(asked()).toBe('66');
  });

  test.each([
    ['absent', {}],
    ['not permitted', upstreamError(10)],
    ['not granted', upstreamError(200, {}, 403)],
  ])('need a business_id when the owner is %s', async (_what, answer) => {
    rig.directory.credential = { business_id: undefined };
    rig.upstream.answers(answer);
    await expect(users()).rejects.toMatchObject({
      code: 'INVALID_FIELD',
      details: { field: 'business_id' },
    });
    expect(rig.upstream.asked).toHaveLength(1);
  });

  test('pass on a refusal of the request itself', async () => {
    rig.directory.credential = { business_id: undefined };
    rig.upstream.answers(upstreamError(190, {}, 401));
    await expect(users()).rejects.toMatchObject({ upstream_code: 190 });
  });
});
