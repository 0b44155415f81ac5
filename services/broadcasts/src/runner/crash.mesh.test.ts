import { aStatus } from '../../test/builders';
import { sentOnce, useRig } from '../../test/rig';
import { eventually } from '../../../../test/testkit/eventually';
import { createMessagingDouble } from '../../test/worker';
import { applyContactStatuses } from '../contact-states/status-events';

const rig = useRig();

/** A store whose writes of states fail as `swap` decides. */
const withSwap = (swap: typeof rig.stores.chunks.swap): typeof rig.stores => ({
  ...rig.stores,
  chunks: { ...rig.stores.chunks, swap },
});

test('after a crash with sends in flight no contact gets two messages, and the counters add up', async () => {
  const messaging = createMessagingDouble(150);
  const { _id, total } = await rig.broadcast(300);
  const first = await rig.worker({ messaging });
  await eventually(() => messaging.sent.length >= 100);
  first.kill();
  const second = await rig.worker({ messaging });
  await eventually(() => messaging.sent.length >= 180);
  second.kill();
  await rig.worker({ messaging });
  await rig.until(_id, 'completed');
  sentOnce(messaging);
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
  const { _id, phone_number_id } = await rig.broadcast(12);
  const first = await rig.worker({ messaging });
  await eventually(() => messaging.sent.length >= 12);
  first.kill();
  messaging.sent.splice(6);
  const second = await rig.worker({ messaging, settings: { grace_ms: 2_500 } });
  /** The upstream reports these statuses of the first messages after `from`. */
  const report = (from: number, statuses: string[]): Promise<void> =>
    applyContactStatuses(second.stateWriter)(
      statuses.map((status, at) => {
        const opaque = `bmg1:ptn_1:${messaging.sent[from + at]?.request_id}`;
        return aStatus(status, { opaque }, { phone_number_id });
      }),
    );
  await report(0, ['sent', 'delivered', 'failed']);
  await rig.until(_id, 'completed');
  expect(messaging.sent).toHaveLength(6);
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 2, delivered: 1, failed: 10 });
  // A late event still corrects the counters: the message was sent.
  await report(3, ['read', 'sent']);
  const { tally, failures } = await rig.counts(_id);
  expect(tally).toMatchObject({ sent: 4, delivered: 2, failed: 8 });
  expect(failures).toContainEqual(expect.objectContaining({ code: 'outcome_unknown', count: 7 }));
});

test('a graceful stop returns the contacts at once and leaves none in doubt', async () => {
  const messaging = createMessagingDouble(100);
  const { _id } = await rig.broadcast(200);
  const lease = { lease_ms: 60_000 };
  const first = await rig.worker({ messaging, settings: lease });
  await eventually(() => messaging.sent.length >= 50);
  await first.stop();
  await rig.worker({ messaging, settings: lease });
  await rig.until(_id, 'completed');
  expect(sentOnce(messaging)).toBe(200);
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 200, failed: 0 });
});

test('a worker that has lost its lease sends nothing of the chunk', async () => {
  const messaging = createMessagingDouble(10);
  const { _id } = await rig.broadcast(400);
  await rig.worker({ messaging });
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
  sentOnce(messaging);
  const { tally } = await rig.counts(_id);
  expect(tally.sent + tally.failed).toBe(400);
});

test('failing writes, stored or not, neither repeat nor lose a contact', async () => {
  const messaging = createMessagingDouble(15);
  const { _id, total } = await rig.broadcast(300);
  let writes = 0;
  const stores = withSwap(async (swaps) => {
    writes += 1;
    if (writes % 7 === 0) throw new Error('the store is unavailable');
    const matched = await rig.stores.chunks.swap(swaps);
    if (writes % 11 === 0) throw new Error('the answer was lost');
    return matched;
  });
  for (let count = 0; count < 2; count += 1) await rig.worker({ messaging, stores });
  await rig.until(_id, 'completed', 50_000);
  expect(writes).toBeGreaterThan(20);
  const { tally } = await rig.counts(_id);
  expect(tally.sent + tally.failed).toBe(total);
  expect(tally.sent).toBe(sentOnce(messaging));
});

test('a stop does not wait for an unavailable store', async () => {
  const messaging = createMessagingDouble(10);
  await rig.broadcast(200);
  let away = false;
  const stores = withSwap((swaps) =>
    away ? Promise.reject(new Error('the store is unavailable')) : rig.stores.chunks.swap(swaps),
  );
  const worker = await rig.worker({ messaging, stores });
  await eventually(() => messaging.sent.length >= 10);
  away = true;
  const began = performance.now();
  await worker.stop();
  // Little more than the limit for sends in flight.
  expect(performance.now() - began).toBeLessThan(10_000);
  away = false;
});
