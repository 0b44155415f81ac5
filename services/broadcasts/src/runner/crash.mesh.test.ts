import type { Event } from '@bmg/proto/stream';
import { someContacts, storeBroadcast } from '../../testing/builders';
import { useRig } from '../../testing/rig';
import { eventually } from '../../../../test/testkit/eventually';
import { aCredential, createMessagingDouble, type MessagingDouble } from '../../testing/worker';
import { applyStatusEvents } from '../ledger/status-events';
import type { Ledger } from '../ledger/ledger';

jest.setTimeout(60_000);
const rig = useRig();

const credentials = () => aCredential({ is_on_biz_app: false });

const statusEvent = (event: string, request_id: string): Event => ({
  occurrence_id: request_id + event,
  event,
  internal: false,
  waba_id: '800',
  phone_number_id: '700',
  timestamp: 1,
  data: '{}',
  received_at_ms: 1,
  partner_ids: ['ptn_1'],
  opaque: `bmg1:ptn_1:${request_id}`,
});

const tell = (ledger: Ledger, events: Event[]): Promise<void> =>
  applyStatusEvents(ledger)(
    events.map((message) => ({ message, key: '', span: undefined, partition: 0, offset: '0' })),
  );

const everyoneAtMostOnce = (messaging: MessagingDouble): void => {
  const recipients = messaging.recipients();
  expect(new Set(recipients).size).toBe(recipients.length);
};

test('after a crash mid-flight everybody is sent at most one message, and the counters add up', async () => {
  const messaging = createMessagingDouble(150);
  const { _id, total } = await storeBroadcast(rig.stores, someContacts(300), {
    phone_number_id: 'c1',
  });
  const first = await rig.worker({ messaging, credentials });
  await eventually(() => messaging.sent.length >= 100);
  first.kill();
  const second = await rig.worker({ messaging, credentials });
  await eventually(() => messaging.sent.length >= 180, 20_000);
  second.kill();
  await rig.worker({ messaging, credentials });
  await rig.until(_id, 'completed');
  everyoneAtMostOnce(messaging);
  const { tally, failures } = await rig.counts(_id);
  expect(tally.sent + tally.failed).toBe(total);
  expect(tally.waiting + tally.in_flight).toBe(0);
  // What was in flight at the two deaths, and nothing else.
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

test('what was in flight at a crash is settled by its status event, in time or later', async () => {
  const messaging = createMessagingDouble(60_000);
  const { _id } = await storeBroadcast(rig.stores, someContacts(12), { phone_number_id: 'c2' });
  const first = await rig.worker({ messaging, credentials });
  await eventually(() => messaging.sent.length >= 12);
  first.kill();
  messaging.sent.splice(6);
  const second = await rig.worker({ messaging, credentials, settings: { grace_ms: 2_500 } });
  const ids = messaging.sent.map(({ request_id }) => request_id);
  await tell(second.ledger, [
    statusEvent('message.sent', ids[0] as string),
    statusEvent('message.delivered', ids[1] as string),
    statusEvent('message.failed', ids[2] as string),
  ]);
  await rig.until(_id, 'completed');
  expect(messaging.sent).toHaveLength(6);
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 2, delivered: 1, failed: 10 });
  // An event that comes after all is believed: the message did go out.
  await tell(second.ledger, [
    statusEvent('message.read', ids[3] as string),
    statusEvent('message.sent', ids[4] as string),
  ]);
  const { tally, failures } = await rig.counts(_id);
  expect(tally).toMatchObject({ sent: 4, delivered: 2, failed: 8 });
  expect(failures).toContainEqual(expect.objectContaining({ code: 'outcome_unknown', count: 7 }));
});

test('a worker that stops in order gives its contacts back at once, with nothing in doubt', async () => {
  const messaging = createMessagingDouble(100);
  const { _id } = await storeBroadcast(rig.stores, someContacts(200), { phone_number_id: 'c3' });
  const lease = { lease_ms: 60_000 };
  const first = await rig.worker({ messaging, credentials, settings: lease });
  await eventually(() => messaging.sent.length >= 50);
  await first.stop();
  await rig.worker({ messaging, credentials, settings: lease });
  await rig.until(_id, 'completed');
  everyoneAtMostOnce(messaging);
  expect(messaging.sent).toHaveLength(200);
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 200, failed: 0 });
});

test('a worker that was silent for longer than its lease sends nothing of what another has taken over', async () => {
  const messaging = createMessagingDouble(10);
  const { _id } = await storeBroadcast(rig.stores, someContacts(400), { phone_number_id: 'c4' });
  const slow = await rig.worker({ messaging, credentials });
  await eventually(() => messaging.sent.length >= 20);
  // Somebody else takes the chunk away while this one goes on.
  const [head] = await rig.stores.chunks.heads([`${_id}/0`]);
  const claimed = await rig.stores.chunks.claim(
    `${_id}/0`,
    'other',
    new Date((head?.lease_until.getTime() ?? 0) + 1),
    new Date(Date.now() + 1_000),
  );
  expect(claimed).not.toBeNull();
  const before = messaging.sent.length;
  await new Promise((resolve) => setTimeout(resolve, 700));
  // No more than what was marked already.
  expect(messaging.sent.length - before).toBeLessThan(40);
  await rig.until(_id, 'completed');
  everyoneAtMostOnce(messaging);
  const { tally } = await rig.counts(_id);
  expect(tally.sent + tally.failed).toBe(400);
  expect(slow).toBeDefined();
});

test('writes that fail, before or after they were stored, send nobody twice and lose nobody', async () => {
  const messaging = createMessagingDouble(15);
  const { _id, total } = await storeBroadcast(rig.stores, someContacts(300), {
    phone_number_id: 'c5',
  });
  let writes = 0;
  const chunks: typeof rig.stores.chunks = {
    ...rig.stores.chunks,
    async swap(swaps) {
      writes += 1;
      if (writes % 7 === 0) throw new Error('the store is away');
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
  everyoneAtMostOnce(messaging);
  const { tally } = await rig.counts(_id);
  expect(tally.sent + tally.failed).toBe(total);
  expect(tally.sent).toBe(messaging.sent.length);
});

test('a worker that is told to stop while the store is away does not wait for it', async () => {
  const messaging = createMessagingDouble(10);
  await storeBroadcast(rig.stores, someContacts(200), { phone_number_id: 'c6' });
  let away = false;
  const chunks: typeof rig.stores.chunks = {
    ...rig.stores.chunks,
    swap: (swaps) =>
      away ? Promise.reject(new Error('the store is away')) : rig.stores.chunks.swap(swaps),
  };
  const worker = await rig.worker({
    messaging,
    credentials: () => aCredential(),
    stores: { ...rig.stores, chunks },
  });
  await eventually(() => messaging.sent.length >= 10);
  away = true;
  const told = performance.now();
  await worker.stop();
  // The limit for what is on its way, and a little.
  expect(performance.now() - told).toBeLessThan(10_000);
  away = false;
});
