import { useRig } from '../../test/build';
import { upstreamError } from '../../test/upstream-stub';

const OK = { success: true };

const rig = useRig();

const update = (settings: object) => rig.run('updateSettings', { settings });

const THREE = {
  calling: { status: 'ENABLED' },
  storage_configuration: {},
  unheard_of: { on: true },
};

test('a failure after the first group lists the applied and the unsent groups', async () => {
  rig.upstream.answers(OK, upstreamError(100, { error_data: { details: 'no such region' } }));
  await expect(update(THREE)).rejects.toMatchObject({
    code: 'UPSTREAM_ERROR',
    upstream_code: 100,
    message: expect.stringContaining('calling applied already'),
    details: {
      applied: ['calling'],
      failed: 'storage_configuration',
      not_sent: ['unheard_of'],
      upstream_details: 'no such region',
    },
  });
  expect(rig.upstream.asked).toHaveLength(2);
});

test('a failure of the first group is the upstream’s error as received', async () => {
  rig.upstream.answers(upstreamError(138_015, { error_data: { details: 'limit too low' } }));
  await expect(update(THREE)).rejects.toMatchObject({
    upstream_code: 138_015,
    details: 'limit too low',
  });
  expect(rig.upstream.asked).toHaveLength(1);
});

test('does not count the messaging product as a feature group', async () => {
  rig.upstream.answers(OK);
  await update({ messaging_product: 'whatsapp', calling: { status: 'DISABLED' } });
  expect(rig.upstream.asked).toMatchObject([{ body: { calling: { status: 'DISABLED' } } }]);
});
