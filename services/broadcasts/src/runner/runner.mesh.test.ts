import { ApiError } from '@bmg/common/errors';
import { phone, someContacts } from '../../test/builders';
import { sentOnce, useRig } from '../../test/rig';
import { eventually } from '../../../../test/testkit/eventually';
import { createMessagingDouble, refusal } from '../../test/worker';
import { detail } from '../contact-states/progress';

const rig = useRig();

const shown = async (id: number) =>
  detail(await rig.load(id), await rig.counts(id), new Date(), {
    number_rate: undefined,
    sharing: 1,
  }).broadcast;

test('a refusal or a lost answer is final for its contact only, and the contacts are deleted', async () => {
  const { _id, messaging } = await rig.run(20, (_request, { recipient }) => {
    if (recipient === phone(3)) throw refusal(131_026);
    if (recipient === phone(4) || recipient === phone(5)) throw refusal(131_049);
    if (recipient !== phone(6)) return;
    throw new ApiError('UPSTREAM_ERROR', 'no answer in time', {
      retryable: false,
      details: { outcome: 'unknown' },
    });
  });
  const broadcast = await rig.until(_id, 'completed');
  expect(sentOnce(messaging)).toBe(20);
  expect(broadcast.completed_at?.getTime()).toBeGreaterThanOrEqual(
    broadcast.started_at?.getTime() ?? Infinity,
  );
  expect(await shown(_id)).toMatchObject({
    total: 20,
    sent: 16,
    failed: 4,
    error_log: '4 of 20 failed (131049: 2, 131026: 1, outcome_unknown: 1)',
    failures: [
      { code: '131049', count: 2 },
      { code: '131026', count: 1, example_recipient: '1555••••003' },
      { code: 'outcome_unknown', count: 1 },
    ],
  });
  await eventually(async () => !(await rig.load(_id)).has_contacts);
  expect(await rig.stores.chunks.contacts(`${_id}/0`)).toBeNull();
});

test('a pair limit postpones the contact without delaying the others', async () => {
  let tries = 0;
  const { _id, messaging } = await rig.run(30, (_request, { recipient }) => {
    if (recipient === phone(0) && (tries += 1) === 1) throw refusal(131_056, true);
  });
  await eventually(() => messaging.sent.length >= 30);
  const waited = performance.now();
  expect((await rig.counts(_id)).tally.waiting).toBeGreaterThanOrEqual(1);
  await rig.until(_id, 'completed');
  expect(performance.now() - waited).toBeGreaterThan(5_000);
  expect(messaging.sent).toHaveLength(31);
  expect(messaging.sent.at(-1)?.recipient).toBe(phone(0));
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 30, failed: 0 });
});

test('a broadcast stops at an error of the number, and the remaining contacts fail with the reason', async () => {
  const error = refusal(190);
  const { _id, messaging } = await rig.run(1_300, (_request, { recipient }) => {
    if (Number(recipient) >= Number(phone(600))) throw error;
  });
  await rig.until(_id, 'completed');
  const { tally, failures } = await rig.counts(_id);
  expect(tally.sent + tally.failed).toBe(1_300);
  // Several parts of the broadcast are in flight, so its contacts are not sent in order.
  expect(tally.sent).toBeGreaterThan(100);
  expect(tally.sent).toBeLessThanOrEqual(600);
  expect(messaging.sent.length).toBeLessThan(1_100);
  expect(failures).toEqual([expect.objectContaining({ code: '190', count: tally.failed })]);
  expect((await shown(_id))?.error_log).toContain(error.message);
});

test('a broadcast whose number may not send fails completely, without a send', async () => {
  const messaging = createMessagingDouble(2);
  const { _id } = await rig.broadcast(10);
  await rig.worker({
    messaging,
    credentials: () => {
      throw new ApiError('WABA_NOT_REGISTERED', 'no such account');
    },
  });
  await rig.until(_id, 'completed');
  expect(messaging.sent).toHaveLength(0);
  const { tally, failures } = await rig.counts(_id);
  expect(tally).toMatchObject({ sent: 0, failed: 10 });
  expect(failures).toMatchObject([{ code: 'WABA_NOT_REGISTERED' }]);
});

test('contacts wait while messaging is unreachable, and then get one message each', async () => {
  let away = true;
  const arrived: string[] = [];
  const { _id, messaging } = await rig.run(40, (_request, { recipient }) => {
    if (!away) return void arrived.push(recipient);
    throw new ApiError('SERVICE_UNAVAILABLE', 'not available', {
      retryable: true,
      retry_after_s: 1,
    });
  });
  // Some contact has been tried twice.
  await eventually(() => messaging.sent.length > new Set(messaging.recipients()).size);
  away = false;
  await rig.until(_id, 'completed');
  expect(arrived.sort()).toEqual(someContacts(40).map(({ recipient }) => recipient));
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 40, failed: 0 });
});

test('a scheduled broadcast starts within a second of its time, on a worker that started later too', async () => {
  const due = new Date(Date.now() + 2_500);
  const { _id } = await rig.run(3, undefined, { scheduled_at: due });
  expect((await rig.load(_id)).status).toBe('scheduled');
  const running_at = Date.now();
  const { started_at } = await rig.until(_id, 'completed');
  expect(started_at?.getTime()).toBeGreaterThanOrEqual(due.getTime());
  expect(started_at?.getTime()).toBeLessThan(Math.max(due.getTime(), running_at) + 1_000);
});

test('a cancel and a start never both succeed', async () => {
  const RACES = 12;
  const messaging = createMessagingDouble(2);
  await rig.worker({ messaging });
  const outcomes = await Promise.all(
    Array.from({ length: RACES }, async (_, at) => {
      const stored = await rig.broadcast(someContacts(3, at * 10), {
        // The first is cancelled in any case, and the last starts.
        ...(at === 0 && { scheduled_at: new Date(Date.now() + 3_600_000) }),
      });
      // Spreads the cancels over the time in which a broadcast starts.
      await new Promise((resolve) => setTimeout(resolve, at * 120));
      if (at === RACES - 1) {
        await eventually(async () => (await rig.load(stored._id)).started_at !== null);
      }
      const cancelled = await rig.stores.broadcasts.change(stored, stored._id, 'cancel');
      return { stored, cancelled: cancelled !== null };
    }),
  );
  for (const { stored, cancelled } of outcomes) {
    const ended = await rig.until(stored._id, cancelled ? 'cancelled' : 'completed');
    const prefix = `bc_${stored._id}_`;
    const sent = messaging.sent.filter(({ request_id }) => request_id.startsWith(prefix)).length;
    expect(sent).toBe(cancelled ? 0 : 3);
    expect(ended.started_at === null).toBe(cancelled);
  }
  expect(new Set(outcomes.map(({ cancelled }) => cancelled)).size).toBe(2);
});

test('a broadcast without contacts completes at once', async () => {
  const { _id } = await rig.run([], undefined, { skipped: 2 });
  await rig.until(_id, 'completed');
  expect(await shown(_id)).toMatchObject({ total: 0, sent: 0, failed: 0, skipped: 2 });
});

test('each message combines the broadcast’s components with the contact’s params', async () => {
  const contacts = [
    { recipient: phone(1), params: { '1': 'Ada', '2': 'A-17' } },
    { recipient: 'US.4Qm7Zr81Kd02', params: { '1': 'Bo', '2': 'B-18' } },
  ];
  const button = (text: string) => ({
    type: 'button',
    sub_type: 'url',
    index: '0',
    parameters: [{ type: 'text', text }],
  });
  const { _id, messaging } = await rig.run(contacts, undefined, {
    template_components: JSON.stringify([button('order/{{2}}')]),
  });
  await rig.until(_id, 'completed');
  expect(messaging.sent.map(({ recipient, components }) => ({ recipient, components }))).toEqual(
    contacts.map(({ recipient, params }) => ({
      recipient,
      components: [
        button(`order/${params['2']}`),
        { type: 'body', parameters: [{ type: 'text', text: params['1'] }] },
      ],
    })),
  );
});
