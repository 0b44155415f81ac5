import { useRig } from '../../test/build';

const FAILED = {
  input: '+15550100778',
  wa_id: '15550100778',
  errors: [
    {
      message: 'Re-engagement required',
      code: 131_047,
      error_data: { details: 'No message from this user in the last 24 hours' },
    },
  ],
};
const DONE = { input: '+15550100777', wa_id: '15550100777' };
const MIXED = { message: '(#139100) Failed to block/unblock users', code: 139_100 };

const rig = useRig();

const block = (users: string[]) => rig.run('blockUsers', { users });

test('answers a mixed result (HTTP 400 upstream) with both lists', async () => {
  const block_users = { added_users: [DONE], failed_users: [FAILED] };
  rig.upstream.answers({ status: 400, body: { block_users, error: MIXED } });
  const users = ['+15550100777', '+15550100778'];
  await expect(block(users)).resolves.toEqual({ done: [DONE], failed: [FAILED] });
});

test('answers a result in which all users failed', async () => {
  const body = { block_users: { failed_users: [FAILED] }, error: MIXED };
  rig.upstream.answers({ status: 400, body });
  const unblocked = rig.run('unblockUsers', { users: ['+15550100778'] });
  await expect(unblocked).resolves.toEqual({ done: [], failed: [FAILED] });
});

test('fails for an error without users', async () => {
  rig.upstream.answers({ status: 400, body: { block_users: {}, error: MIXED } });
  await expect(block(['+15550100777'])).rejects.toMatchObject({ upstream_code: 139_100 });
});

test('sends 1,000 users in one request', async () => {
  rig.upstream.answers({ block_users: { added_users: [] } });
  await block(Array<string>(1_000).fill('15550100777'));
  expect(rig.upstream.asked).toHaveLength(1);
});
