import { someContacts, storeBroadcast } from '../../test/builders';
import { useRig } from '../../test/rig';
import { eventually } from '../../../../test/testkit/eventually';
import { aCredential, createMessagingDouble, type MessagingDouble } from '../../test/worker';
import type { PartnerEvent } from '../records/broadcasts';
import type { Broadcast } from '../ground/types';
import { TURNS_MAX } from './rotation';

const rig = useRig();

/** 76 messages a second: broadcasts of 300 contacts take four seconds. */
const credentials = () => aCredential({ is_on_biz_app: false });
const partner_id = 'ptn_1';
/** Longer than a worker takes to notice a pause. */
const NOTICED_MS = 1_500;

const change = (
  id: number,
  event: PartnerEvent,
  paused_at: Date | null,
): Promise<Broadcast | null> =>
  rig.stores.broadcasts.change({ partner_id }, id, event, { paused_at });
const pause = (id: number, at = new Date()) => change(id, 'pause', at);
const resume = (id: number) => change(id, 'resume', null);

const expectEachOnce = (messaging: MessagingDouble, count: number): void => {
  const recipients = messaging.recipients();
  expect(recipients).toHaveLength(count);
  expect(new Set(recipients).size).toBe(count);
};

/** Waits until nothing is in flight; returns how many messages have been sent. */
async function settled(id: number, messaging: MessagingDouble): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, NOTICED_MS));
  await eventually(async () => (await rig.counts(id)).tally.in_flight === 0);
  return messaging.sent.length;
}

test('a paused broadcast sends nothing, keeps its contacts, and goes on where it stopped', async () => {
  const messaging = createMessagingDouble(20);
  const { _id } = await storeBroadcast(rig.stores, someContacts(300), { phone_number_id: 'p1' });
  const worker = await rig.worker({ messaging, credentials });
  await eventually(() => messaging.sent.length >= 40);
  expect(await pause(_id)).toMatchObject({ status: 'paused' });
  worker.runner.wake();
  const sent = await settled(_id, messaging);
  expect(sent).toBeLessThan(200);
  expect((await rig.counts(_id)).tally).toMatchObject({ sent, waiting: 300 - sent, failed: 0 });
  // No worker holds its contacts, and the number is free.
  for (const { lease_until } of await rig.stores.chunks.heads([`${_id}/0`])) {
    expect(lease_until.getTime()).toBeLessThanOrEqual(Date.now());
  }
  expect(worker.runner.isActive('p1')).toBe(false);
  await new Promise((resolve) => setTimeout(resolve, NOTICED_MS));
  expect(messaging.sent).toHaveLength(sent);
  expect(await resume(_id)).toMatchObject({ status: 'processing', paused_at: null });
  const { started_at } = await rig.until(_id, 'completed');
  expect(started_at?.getTime()).toBeLessThan(Date.now() - 2 * NOTICED_MS);
  expectEachOnce(messaging, 300);
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 300, failed: 0 });
});

test('pauses and resumes in quick succession send no contact a message twice', async () => {
  const messaging = createMessagingDouble(50, 'claims');
  const { _id } = await storeBroadcast(rig.stores, someContacts(300), { phone_number_id: 'p2' });
  const workers = [
    await rig.worker({ messaging, credentials }),
    await rig.worker({ messaging, credentials }),
  ];
  await eventually(() => messaging.sent.length >= 10);
  for (const wait of [0, 30, 200, 700, 1_200, 50]) {
    await pause(_id);
    for (const { runner } of workers) runner.wake();
    await new Promise((resolve) => setTimeout(resolve, wait));
    await resume(_id);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  await rig.until(_id, 'completed');
  expectEachOnce(messaging, 300);
});

test('a crash before, during and after a pause loses no contact and sends none twice', async () => {
  const messaging = createMessagingDouble(50, 'claims');
  const { _id } = await storeBroadcast(rig.stores, someContacts(300), { phone_number_id: 'p3' });
  const first = await rig.worker({ messaging, credentials });
  await eventually(() => messaging.sent.length >= 40);
  // Killed with sends in flight, before it notices the pause.
  await pause(_id);
  first.kill();
  const second = await rig.worker({ messaging, credentials });
  const sent = messaging.sent.length;
  await new Promise((resolve) => setTimeout(resolve, 2 * NOTICED_MS));
  expect(messaging.sent).toHaveLength(sent);
  second.kill();
  await resume(_id);
  const third = await rig.worker({ messaging, credentials });
  await eventually(() => messaging.sent.length >= sent + 20);
  third.kill();
  await rig.worker({ messaging, credentials });
  await rig.until(_id, 'completed');
  expectEachOnce(messaging, 300);
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 300, failed: 0 });
});

test('paused broadcasts leave turns and pace of their number to the others', async () => {
  const messaging = createMessagingDouble(2);
  const worker = await rig.worker({ messaging, credentials });
  const paused: number[] = [];
  for (let at = 0; at < TURNS_MAX; at += 1) {
    const stored = await storeBroadcast(rig.stores, someContacts(100, at * 100), {
      phone_number_id: 'p4',
    });
    paused.push(stored._id);
  }
  worker.runner.wake();
  for (const id of paused) {
    await eventually(async () => await pause(id));
  }
  const next = await storeBroadcast(rig.stores, someContacts(20, 90_000), {
    phone_number_id: 'p4',
  });
  await rig.until(next._id, 'completed', 10_000);
  for (const id of paused) expect((await rig.load(id)).status).toBe('paused');
});
