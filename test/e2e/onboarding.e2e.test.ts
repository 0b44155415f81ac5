// Clients over REST: upstream events stop and restore sends, and usage counts calls and messages.
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/shared-mesh';
import { useMesh, usePartner } from './use-mesh';

const mesh = useMesh();
const partner = usePartner(mesh, []);

afterEach(() => mesh.emulator.clearFaults());

/** Sends a signed account event of the upstream. */
const accountEvent = async (event: string): Promise<void> => {
  const time = Math.floor(Date.now() / 1_000);
  const changes = [{ field: 'account_update', value: { event } }];
  const entry = [{ id: ONE.waba_id, time, changes }];
  const body = { object: 'whatsapp_business_account', entry };
  expect((await mesh.emulator.postWebhook({ body })).acknowledged).toBe(1);
};
const send = (of = partner) =>
  of.call(
    'POST',
    '/messages/send',
    { to: '15550100777', text: 'Hello' },
    { 'x-waba-id': ONE.waba_id },
  );

test('an offboarding stops the sends of every partner within seconds, until a reconnection', async () => {
  const other = await mesh.createPartner();
  for (const one of [partner, other]) {
    await one.register(ONE);
    expect((await send(one)).status).toBe(200);
  }
  await accountEvent('ACCOUNT_OFFBOARDED');
  for (const one of [partner, other]) {
    const refused = await eventually(async () => {
      const answer = await send(one);
      return answer.status === 404 && answer;
    });
    expect(refused.body.error).toMatchObject({ code: 'NO_ACTIVE_WABA', retryable: true });
  }
  await accountEvent('ACCOUNT_RECONNECTED');
  for (const one of [partner, other]) {
    await eventually(async () => (await send(one)).status === 200);
  }
});

test('the usage record counts each call, and each message for the partner that sent it, once', async () => {
  const own = await mesh.createPartner();
  await own.register(ONE);
  await mesh.emulator.behaviour({ duplicate: 2 });
  expect((await send(own)).status).toBe(200);
  const { body } = await eventually(async () => {
    const answer = await own.call('GET', '/usage');
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
    const { endpoints } = (await own.call('GET', '/usage')).body;
    return endpoints.find(
      ({ endpoint, calls }: { endpoint: string; calls: number }) =>
        endpoint === '/messages/send' && calls === 1,
    );
  });
});
