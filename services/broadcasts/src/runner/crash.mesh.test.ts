import { aStatus, someContacts, storeBroadcast } from '../../test/builders';
import { useRig } from '../../test/rig';
import { eventually } from '../../../../test/testkit/eventually';
import { aCredential, createMessagingDouble, type MessagingDouble } from '../../test/worker';
import { applyContactStatuses } from '../contact-states/status-events';
import type { StateWriter } from '../contact-states/state-writer';

const rig = useRig();

const credentials = () => aCredential({ is_on_biz_app: false });

/** The upstream reports these statuses of sends on the number c2, of which `ids` are the ids. */
const report = (stateWriter: StateWriter, ids: string[], statuses: string[]): Promise<void> =>
  applyContactStatuses(stateWriter)(
    statuses.map((status, at) =>
      aStatus(status, { opaque: `bmg1:ptn_1:${ids[at]}` }, { phone_number_id: 'c2' }),
    ),
  );

const expectNoneSentTwice = (messaging: MessagingDouble): void => {
  const recipients = messaging.recipients();
  expect(new Set(recipients).size).toBe(recipients.length);
};

test('after a crash with sends in flight no contact gets two messages, and the counters add up', async () => {
  const messaging = createMessagingDouble(150);
  const { _id, total } = await storeBroadcast(rig.stores, someContacts(300), {
    phone_number_id: 'c1',
  });
  const first = await rig.worker({ messaging, credentials });
  await eventually(() => messaging.sent.length >= 100);
  first.kill();
  const second = await rig.worker({ messaging, credentials });
  await eventually(() => messaging.sent.length >= 180);
  second.kill();
  await rig.worker({ messaging, credentials });
  await rig.until(_id, 'completed');
  expectNoneSentTwice(messaging);
  const { tally, failures } = await rig.counts(_id);
  expect(tally.sent + tally.failed).toBe(total);
  expect(tally.waiting + tally.in_flight).toBe(0);
  // Only the sends in flight at the two crashes.
  expect(tally.failed).toBeGreaterThan(0);
  expect(tally.failed).toBeLessThan(120);
  expect(failures).toEqual([
    {
      code: 'outcome_unknown',
      count: tally.failed,
      example: expect.stringMatching(/^1555•+\d{3}$/),
    },
  ]);
});

test('a status event decides a send that was in flight at a crash, in time or later', async () => {
  const messaging = createMessagingDouble(60_000);
  const { _id } = await storeBroadcast(rig.stores, someContacts(12), { phone_number_id: 'c2' });
  const first = await rig.worker({ messaging, credentials });
  await eventually(() => messaging.sent.length >= 12);
  first.kill();
  messaging.sent.splice(6);
  const second = await rig.worker({ messaging, credentials, settings: { grace_ms: 2_500 } });
  const ids = messaging.sent.map(({ request_id }) => request_id);
  await report(second.stateWriter, ids, ['sent', 'delivered', 'failed']);
  await rig.until(_id, 'completed');
  expect(messaging.sent).toHaveLength(6);
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 2, delivered: 1, failed: 10 });
  // A late event still corrects the counters: the message was sent.
  await report(second.stateWriter, ids.slice(3), ['read', 'sent']);
  const { tally, failures } = await rig.counts(_id);
  expect(tally).toMatchObject({ sent: 4, delivered: 2, failed: 8 });
  expect(failures).toContainEqual(expect.objectContaining({ code: 'outcome_unknown', count: 7 }));
});

test('a graceful stop returns the contacts at once and leaves none in doubt', async () => {
  const messaging = createMessagingDouble(100);
  const { _id } = await storeBroadcast(rig.stores, someContacts(200), { phone_number_id: 'c3' });
  const lease = { lease_ms: 60_000 };
  const first = await rig.worker({ messaging, credentials, settings: lease });
  await eventually(() => messaging.sent.length >= 50);
  await first.stop();
  await rig.worker({ messaging, credentials, settings: lease });
  await rig.until(_id, 'completed');
  expectNoneSentTwice(messaging);
  expect(messaging.sent).toHaveLength(200);
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 200, failed: 0 });
});

test('a worker that has lost its lease sends nothing of the chunk', async () => {
  const messaging = createMessagingDouble(10);
  const { _id } = await storeBroadcast(rig.stores, someContacts(400), { phone_number_id: 'c4' });
  await rig.worker({ messaging, credentials });
  await eventually(() => messaging.sent.length >= 20);
  // Another worker claims the chunk while this one continues.
  await eventually(async () => {
    const [head] = await rig.stores.chunks.heads([`${_id}/0`]);
    // Not if the worker renews its lease between the two.
    return rig.stores.chunks.claim(
      `${_id}/0`,
      'other',
      new Date((head?.lease_until.getTime() ?? 0) + 1),
      new Date(Date.now() + 1_000),
    );
  });
  const before = messaging.sent.length;
  // Time enough for the rest of the chunk, which no event marks as not sent.
  await new Promise((resolve) => setTimeout(resolve, 700));
  // Only the contacts that were already marked.
  expect(messaging.sent.length - before).toBeLessThan(40);
  await rig.until(_id, 'completed');
  expectNoneSentTwice(messaging);
  const { tally } = await rig.counts(_id);
  expect(tally.sent + tally.failed).toBe(400);
});

test('failing writes, stored or not, neither repeat nor lose a contact', async () => {
  const messaging = createMessagingDouble(15);
  const { _id, total } = await storeBroadcast(rig.stores, someContacts(300), {
    phone_number_id: 'c5',
  });
  let writes = 0;
  const chunks: typeof rig.stores.chunks = {
    ...rig.stores.chunks,
    async swap(swaps) {
      writes += 1;
      if (writes % 7 === 0) throw new Error('the store is unavailable');
      const matched = await rig.stores.chunks.swap(swaps);
      if (writes % 11 === 0) throw new Error('the answer was lost');
      return matched;
    },
  };
  const stores = { ...rig.stores, chunks };
  await Promise.all([
    rig.worker({ messaging, credentials, stores }),
    rig.worker({ messaging, credentials, stores }),
  ]);
  await rig.until(_id, 'completed', 50_000);
  expect(writes).toBeGreaterThan(20);
  expectNoneSentTwice(messaging);
  const { tally } = await rig.counts(_id);
  expect(tally.sent + tally.failed).toBe(total);
  expect(tally.sent).toBe(messaging.sent.length);
});

test('a stop does not wait for an unavailable store', async () => {
  const messaging = createMessagingDouble(10);
  await storeBroadcast(rig.stores, someContacts(200), { phone_number_id: 'c6' });
  let away = false;
  const chunks: typeof rig.stores.chunks = {
    ...rig.stores.chunks,
    swap: (swaps) =>
      away ? Promise.reject(new Error('the store is unavailable')) : rig.stores.chunks.swap(swaps),
  };
  const worker = await rig.worker({
    messaging,
    credentials: () => aCredential(),
    stores: { ...rig.stores, chunks },
  });
  await eventually(() => messaging.sent.length >= 10);
  away = true;
  const began = performance.now();
  await worker.stop();
  // Little more than the limit for sends in flight.
  expect(performance.now() - began).toBeLessThan(10_000);
  away = false;
});
