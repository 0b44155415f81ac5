import { ApiError } from '@bmg/common/errors';
import { sentOnce, useRig } from '../../test/rig';
import { createMessagingDouble, type MessagingDouble } from '../../test/worker';
import { eventually } from '../../../../test/testkit/eventually';

const rig = useRig();

/** Every contact got exactly one message, and counts as sent. */
async function expectEachSentOnce(
  messaging: MessagingDouble,
  { _id, total }: { _id: number; total: number },
): Promise<void> {
  await rig.until(_id, 'completed');
  expect(sentOnce(messaging)).toBe(total);
  expect(await rig.counts(_id)).toMatchObject({ tally: { sent: total }, failures: [] });
}

test('resends contacts that messaging never received', async () => {
  const messaging = createMessagingDouble(20, 'claims');
  const stored = await rig.broadcast(60);
  let broken = 0;
  messaging.receives(() => {
    if ((broken += 1) % 3 === 0) throw new ApiError('SERVER_ERROR', 'the connection broke');
  });
  await rig.worker({ messaging });
  await expectEachSentOnce(messaging, stored);
  expect(broken).toBeGreaterThan(60);
});

test('a send that arrives after it was settled does not go out', async () => {
  const messaging = createMessagingDouble(20, 'claims');
  const stored = await rig.broadcast(5);
  let arrive = (): void => undefined;
  const late = new Promise<void>((resolve) => (arrive = resolve));
  messaging.receives(() => late);
  const first = await rig.worker({ messaging });
  // Longer than the marks of the first worker take.
  await eventually(async () => (await rig.counts(stored._id)).tally.in_flight === 5);
  first.kill();
  messaging.receives(() => undefined);
  await rig.worker({ messaging });
  await rig.until(stored._id, 'completed');
  arrive();
  // In this turn of the event loop the late sends are claimed and go out, or are refused.
  await new Promise((resolve) => setImmediate(resolve));
  await expectEachSentOnce(messaging, stored);
});

test('does not give up while messaging is unavailable', async () => {
  const messaging = createMessagingDouble(20, 'claims');
  const stored = await rig.broadcast(5);
  const { settleSends } = messaging.rpc;
  messaging.rpc.settleSends = () => Promise.reject(new ApiError('SERVICE_UNAVAILABLE', 'away'));
  messaging.receives(() => {
    throw new ApiError('SERVER_ERROR', 'the connection broke');
  });
  await rig.worker({ messaging, settings: { grace_ms: 300 } });
  await eventually(async () => (await rig.counts(stored._id)).tally.in_flight === 5);
  // Several times the grace: the worker must still not give up.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect((await rig.counts(stored._id)).tally.in_flight).toBe(5);
  messaging.receives(() => undefined);
  messaging.rpc.settleSends = settleSends;
  await expectEachSentOnce(messaging, stored);
});
