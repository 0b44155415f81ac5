import { someContacts } from '../../test/builders';
import { sentOnce, useRig } from '../../test/rig';
import { eventually } from '../../../../test/testkit/eventually';
import { createMessagingDouble } from '../../test/worker';
import { TURNS_MAX } from './rotation';

const rig = useRig();

/** Longer than a worker takes to notice a pause. */
const NOTICED_MS = 1_500;
const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const { change } = rig.stores.broadcasts;
const scope = { partner_id: 'ptn_1' };
const pause = (id: number) => change(scope, id, 'pause', { paused_at: new Date() });
const resume = (id: number) => change(scope, id, 'resume', { paused_at: null });

test('a paused broadcast sends nothing, keeps its contacts, and goes on where it stopped', async () => {
  const messaging = createMessagingDouble(20);
  // 76 messages a second: four seconds.
  const { _id, phone_number_id } = await rig.broadcast(300);
  const worker = await rig.worker({ messaging });
  await eventually(() => messaging.sent.length >= 40);
  expect(await pause(_id)).toMatchObject({ status: 'paused' });
  worker.runner.wake();
  await after(NOTICED_MS);
  await eventually(async () => (await rig.counts(_id)).tally.in_flight === 0);
  const sent = messaging.sent.length;
  expect(sent).toBeLessThan(200);
  expect((await rig.counts(_id)).tally).toMatchObject({ sent, waiting: 300 - sent, failed: 0 });
  // No worker holds its contacts, and the number is free.
  for (const { lease_until } of await rig.stores.chunks.heads([`${_id}/0`])) {
    expect(lease_until.getTime()).toBeLessThanOrEqual(Date.now());
  }
  expect(worker.runner.isActive(phone_number_id)).toBe(false);
  await after(NOTICED_MS);
  expect(messaging.sent).toHaveLength(sent);
  expect(await resume(_id)).toMatchObject({ status: 'processing', paused_at: null });
  const { started_at } = await rig.until(_id, 'completed');
  expect(started_at?.getTime()).toBeLessThan(Date.now() - 2 * NOTICED_MS);
  expect(sentOnce(messaging)).toBe(300);
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 300, failed: 0 });
});

test('pauses and resumes in quick succession send no contact a message twice', async () => {
  const messaging = createMessagingDouble(50, 'claims');
  const { _id } = await rig.broadcast(300);
  const workers = [await rig.worker({ messaging }), await rig.worker({ messaging })];
  await eventually(() => messaging.sent.length >= 10);
  for (const wait of [0, 30, 200, 700, 1_200, 50]) {
    await pause(_id);
    for (const { runner } of workers) runner.wake();
    await after(wait);
    await resume(_id);
    await after(wait);
  }
  await rig.until(_id, 'completed');
  expect(sentOnce(messaging)).toBe(300);
});

test('a crash before, during and after a pause loses no contact and sends none twice', async () => {
  const messaging = createMessagingDouble(50, 'claims');
  const { _id } = await rig.broadcast(300);
  const first = await rig.worker({ messaging });
  await eventually(() => messaging.sent.length >= 40);
  // Killed with sends in flight, before it notices the pause.
  await pause(_id);
  first.kill();
  const second = await rig.worker({ messaging });
  const sent = messaging.sent.length;
  await after(2 * NOTICED_MS);
  expect(messaging.sent).toHaveLength(sent);
  second.kill();
  await resume(_id);
  const third = await rig.worker({ messaging });
  await eventually(() => messaging.sent.length >= sent + 20);
  third.kill();
  await rig.worker({ messaging });
  await rig.until(_id, 'completed');
  expect(sentOnce(messaging)).toBe(300);
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 300, failed: 0 });
});

test('paused broadcasts leave turns and pace of their number to the others', async () => {
  const messaging = createMessagingDouble(2);
  const worker = await rig.worker({ messaging });
  const of_number = { phone_number_id: 'p4' };
  const paused: number[] = [];
  for (let at = 0; at < TURNS_MAX; at += 1) {
    paused.push((await rig.broadcast(someContacts(100, at * 100), of_number))._id);
  }
  worker.runner.wake();
  for (const id of paused) await eventually(async () => await pause(id));
  const next = await rig.broadcast(someContacts(20, 90_000), of_number);
  await rig.until(next._id, 'completed', 10_000);
  for (const id of paused) expect((await rig.load(id)).status).toBe('paused');
});
