// Usage over REST: it counts calls and messages, each once.
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/shared-mesh';
import { useMesh, usePartner } from './use-mesh';

const mesh = useMesh();
const partner = usePartner(mesh);

test('the usage record counts each call, and each message for the partner that sent it, once', async () => {
  await mesh.emulator.behaviour({ duplicate: 2 });
  const sent = await partner.call(
    'POST',
    '/messages/send',
    { to: '15550100777', text: 'Hello' },
    { 'x-waba-id': ONE.waba_id },
  );
  expect(sent.status).toBe(200);
  const { body } = await eventually(async () => {
    const answer = await partner.call('GET', '/usage');
    const counts = Object.values(answer.body.messages) as Array<Record<string, number>>;
    return counts.some(({ read }) => read === 1) && answer;
  });
  await mesh.emulator.behaviour({ duplicate: 0 });
  const [counts] = Object.values(body.messages) as [Record<string, number>];
  expect(counts).toMatchObject({ sent: 1, delivered: 1, read: 1, failed: 0 });
  expect((counts['billable'] as number) + (counts['free'] as number)).toBe(1);
  expect(body.billing).toEqual({
    slots: 1,
    peak_active_wabas: 1,
    active_wabas: 1,
    fee_usd: 10,
  });
  await eventually(async () => {
    const { endpoints } = (await partner.call('GET', '/usage')).body;
    return endpoints.find(
      ({ endpoint, calls }: { endpoint: string; calls: number }) =>
        endpoint === '/messages/send' && calls === 1,
    );
  });
});
