import { ApiError } from '@bmg/common/errors';
import { someContacts, storeBroadcast } from '../../test/builders';
import { useRig } from '../../test/rig';
import { aCredential, createMessagingDouble, type MessagingDouble } from '../../test/worker';
import { eventually } from '../../../../test/testkit/eventually';

const rig = useRig();

const credentials = () => aCredential({ is_on_biz_app: false });

/** Every contact got exactly one message, and counts as sent. */
async function expectEachSentOnce(
  messaging: MessagingDouble,
  { _id, total }: { _id: number; total: number },
): Promise<void> {
  await rig.until(_id, 'completed');
  const recipients = messaging.recipients();
  expect(new Set(recipients).size).toBe(recipients.length);
  const { tally, failures } = await rig.counts(_id);
  expect({ recipients: recipients.length, sent: tally.sent, failures }).toEqual({
    recipients: total,
    sent: total,
    failures: [],
  });
}

test('after two crashes of workers every contact is sent once, and none is unknown', async () => {
  const messaging = createMessagingDouble(150, 'claims');
  const stored = await storeBroadcast(rig.stores, someContacts(200), { phone_number_id: 'd1' });
  const first = await rig.worker({ messaging, credentials });
  await eventually(() => messaging.sent.length >= 60);
  first.kill();
  const second = await rig.worker({ messaging, credentials });
  await eventually(() => messaging.sent.length >= 130);
  second.kill();
  await rig.worker({ messaging, credentials });
  await expectEachSentOnce(messaging, stored);
});

test('resends contacts that messaging never received', async () => {
  const messaging = createMessagingDouble(20, 'claims');
  const stored = await storeBroadcast(rig.stores, someContacts(60), { phone_number_id: 'd2' });
  let broken = 0;
  messaging.receives(() => {
    if ((broken += 1) % 3 === 0) throw new ApiError('SERVER_ERROR', 'the connection broke');
  });
  await rig.worker({ messaging, credentials });
  await expectEachSentOnce(messaging, stored);
  expect(broken).toBeGreaterThan(60);
});

test('a send that arrives after it was settled does not go out', async () => {
  const messaging = createMessagingDouble(20, 'claims');
  const stored = await storeBroadcast(rig.stores, someContacts(5), { phone_number_id: 'd3' });
  let arrive = (): void => undefined;
  const late = new Promise<void>((resolve) => (arrive = resolve));
  messaging.receives(() => late);
  const first = await rig.worker({ messaging, credentials });
  // Longer than the marks of the first worker take.
  await eventually(async () => (await rig.counts(stored._id)).tally.in_flight === 5);
  first.kill();
  messaging.receives(() => undefined);
  await rig.worker({ messaging, credentials });
  await rig.until(stored._id, 'completed');
  arrive();
  // In this turn of the event loop the late sends are claimed and go out, or are refused.
  await new Promise((resolve) => setImmediate(resolve));
  await expectEachSentOnce(messaging, stored);
});

test('does not give up while messaging is unavailable', async () => {
  const messaging = createMessagingDouble(20, 'claims');
  const stored = await storeBroadcast(rig.stores, someContacts(5), { phone_number_id: 'd4' });
  const { settleSends } = messaging.rpc;
  messaging.rpc.settleSends = () => Promise.reject(new ApiError('SERVICE_UNAVAILABLE', 'away'));
  messaging.receives(() => {
    throw new ApiError('SERVER_ERROR', 'the connection broke');
  });
  await rig.worker({ messaging, credentials, settings: { grace_ms: 300 } });
  await eventually(async () => (await rig.counts(stored._id)).tally.in_flight === 5);
  // Several times the grace: the worker must still not give up.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect((await rig.counts(stored._id)).tally.in_flight).toBe(5);
  messaging.receives(() => undefined);
  messaging.rpc.settleSends = settleSends;
  await expectEachSentOnce(messaging, stored);
});
