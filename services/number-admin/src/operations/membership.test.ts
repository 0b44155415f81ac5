// Objects that the token reaches, but that are not of this account or number.
import { useRig, TARGET } from '../../test/build';
import { upstreamError } from '../../test/upstream-stub';

const rig = useRig();

const deleteGroup = (group_id: string) =>
  rig.rpc.deleteGroup({ target: TARGET, group_id }, rig.call());
const getGroup = (group_id: string) => rig.rpc.getGroup({ target: TARGET, group_id }, rig.call());
const removeParticipants = (group_id: string) =>
  rig.rpc.removeGroupParticipants(
    { target: TARGET, group_id, participants: ['15550100777'] },
    rig.call(),
  );
const getFlow = (flow_id: string) => rig.rpc.getFlow({ target: TARGET, flow_id }, rig.call());
const methods = () => rig.upstream.asked.map(({ method }) => method);

test.each([
  ['deletes', deleteGroup],
  ['shows', getGroup],
  ['removes participants of', removeParticipants],
])('%s no object that is not a group of the number', async (_name, ask) => {
  rig.upstream.answers({ id: 't1' }, { data: { groups: [{ id: 'g1' }] } });
  await expect(ask('t1')).rejects.toMatchObject({
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
  await deleteGroup('g2');
  expect(methods().at(-1)).toBe('DELETE');
});

test('shows no flow of another account', async () => {
  rig.upstream.answers({ id: '12', json_version: '6.0' }, { data: [{ id: '11' }] });
  await expect(getFlow('12')).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    details: { field: 'flow_id' },
  });
});

test('passes the upstream’s error on for an object that it does not know', async () => {
  for (const ask of [deleteGroup, getGroup, removeParticipants, getFlow]) {
    rig.upstream.answers(upstreamError(33));
    await expect(ask('x')).rejects.toMatchObject({ code: 'UPSTREAM_ERROR', upstream_code: 33 });
    expect(methods()).toEqual(['GET']);
  }
});
