// Objects that the token reaches, but that are not of this account or number.
import { useRig, type Method } from '../../test/build';
import { upstreamError } from '../../test/upstream-stub';

const rig = useRig();

const ask = (method: Method, id: string) =>
  rig.run(method, { group_id: id, flow_id: id, participants: ['15550100777'] });
const methods = () => rig.upstream.asked.map(({ method }) => method);

const OF_GROUPS = ['deleteGroup', 'getGroup', 'removeGroupParticipants'] as const;

test.each(OF_GROUPS)('%s takes no object that is not a group of the number', async (method) => {
  rig.upstream.answers({ id: 't1' }, { data: { groups: [{ id: 'g1' }] } });
  await expect(ask(method, 't1')).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    message: 'group_id does not belong to the number',
    details: { field: 'group_id' },
  });
  expect(methods()).not.toContain('DELETE');
});

test('finds a group on a later page of the list', async () => {
  const paging = { cursors: { after: 'a1' }, next: 'https://upstream/next' };
  rig.upstream.answers(
    { id: 'g2' },
    { data: { groups: [{ id: 'g1' }] }, paging },
    { data: { groups: [{ id: 'g2' }] } },
    { success: true },
  );
  await ask('deleteGroup', 'g2');
  expect(methods().at(-1)).toBe('DELETE');
});

test('shows no flow of another account', async () => {
  rig.upstream.answers({ id: '12', json_version: '6.0' }, { data: [{ id: '11' }] });
  await expect(ask('getFlow', '12')).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    details: { field: 'flow_id' },
  });
});

test('passes the upstream’s error on for an object that it does not know', async () => {
  for (const method of [...OF_GROUPS, 'getFlow'] as const) {
    rig.upstream.answers(upstreamError(33));
    const asked = ask(method, 'x');
    await expect(asked).rejects.toMatchObject({ code: 'UPSTREAM_ERROR', upstream_code: 33 });
    expect(methods()).toEqual(['GET']);
  }
});
