import { ApiError } from '@bmg/common/errors';
import { phone, someContacts, storeBroadcast } from '../../test/builders';
import { useRig } from '../../test/rig';
import { eventually } from '../../../../test/testkit/eventually';
import { aCredential, createMessagingDouble, refusal } from '../../test/worker';
import { detail } from '../contact-states/progress';

const rig = useRig();

const credentials = () => aCredential({ is_on_biz_app: false, throughput_level: 'HIGH' });
const noRate = { number_rate: undefined, sharing: 1 };

const shown = async (id: number) =>
  detail(await rig.load(id), await rig.counts(id), new Date(), noRate).broadcast;

test('a refusal is final for its contact only, and is counted under the upstream’s code', async () => {
  const messaging = createMessagingDouble(2);
  messaging.answers((_request, { recipient }) => {
    if (recipient === phone(3)) throw refusal(131_026);
    if (recipient === phone(4) || recipient === phone(5)) throw refusal(131_049);
  });
  const { _id } = await storeBroadcast(rig.stores, someContacts(20), { phone_number_id: 'r1' });
  await rig.worker({ messaging, credentials });
  const broadcast = await rig.until(_id, 'completed');
  expect(messaging.sent).toHaveLength(20);
  expect(broadcast.completed_at?.getTime()).toBeGreaterThanOrEqual(
    broadcast.started_at?.getTime() ?? Infinity,
  );
  expect(await shown(_id)).toMatchObject({
    total: 20,
    sent: 17,
    failed: 3,
    error_log: '3 of 20 failed (131049: 2, 131026: 1)',
    failures: [
      { code: '131049', count: 2 },
      { code: '131026', count: 1, example_recipient: '1555••••003' },
    ],
  });
});

test('a pair limit postpones the contact without delaying the others', async () => {
  const messaging = createMessagingDouble(2);
  messaging.answers((_request, { recipient }) => {
    const tries = messaging.sent.filter((one) => one.recipient === recipient).length;
    if (recipient === phone(0) && tries === 1) throw refusal(131_056, true);
  });
  const { _id } = await storeBroadcast(rig.stores, someContacts(30), { phone_number_id: 'r2' });
  await rig.worker({ messaging, credentials });
  await eventually(() => messaging.sent.length >= 30);
  const waited = performance.now();
  expect((await rig.counts(_id)).tally.waiting).toBeGreaterThanOrEqual(1);
  await rig.until(_id, 'completed');
  expect(performance.now() - waited).toBeGreaterThan(5_000);
  expect(messaging.sent).toHaveLength(31);
  expect(messaging.sent.at(-1)?.recipient).toBe(phone(0));
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 30, failed: 0 });
});

test.each([
  [
    'the client was deleted',
    new ApiError('WABA_NOT_REGISTERED', 'no such account'),
    'WABA_NOT_REGISTERED',
  ],
  ['the token is invalid', refusal(190), '190'],
])(
  'a broadcast stops when %s, and the remaining contacts fail with the reason',
  async (_why, error, code) => {
    const messaging = createMessagingDouble(2);
    messaging.answers((_request, { recipient }) => {
      if (Number(recipient) >= Number(phone(600))) throw error;
    });
    const { _id } = await storeBroadcast(rig.stores, someContacts(1_300), {
      phone_number_id: `r3-${code}`,
    });
    await rig.worker({ messaging, credentials });
    await rig.until(_id, 'completed');
    const { tally, failures } = await rig.counts(_id);
    expect(tally.sent + tally.failed).toBe(1_300);
    // Several parts of the broadcast are in flight, so its contacts are not sent in order.
    expect(tally.sent).toBeGreaterThan(100);
    expect(tally.sent).toBeLessThanOrEqual(600);
    expect(messaging.sent.length).toBeLessThan(1_100);
    expect(failures).toEqual([expect.objectContaining({ code, count: tally.failed })]);
    expect((await shown(_id))?.error_log).toContain(error.message);
  },
);

test('a broadcast whose number may not send fails completely, without a send', async () => {
  const messaging = createMessagingDouble(2);
  const { _id } = await storeBroadcast(rig.stores, someContacts(10), { phone_number_id: 'r4' });
  await rig.worker({
    messaging,
    credentials: () => {
      throw new ApiError('WABA_NOT_REGISTERED', 'no such account');
    },
  });
  await rig.until(_id, 'completed');
  expect(messaging.sent).toHaveLength(0);
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 0, failed: 10 });
});

test('a lost answer leaves the contact in doubt, and it is not sent again', async () => {
  const messaging = createMessagingDouble(2);
  messaging.answers((_request, { recipient }) => {
    if (recipient !== phone(1)) return;
    throw new ApiError('UPSTREAM_ERROR', 'no answer in time', {
      retryable: false,
      details: { outcome: 'unknown' },
    });
  });
  const { _id } = await storeBroadcast(rig.stores, someContacts(5), { phone_number_id: 'r5' });
  await rig.worker({ messaging, credentials });
  await rig.until(_id, 'completed');
  expect(messaging.sent).toHaveLength(5);
  expect(await shown(_id)).toMatchObject({
    sent: 4,
    failed: 1,
    failures: [{ code: 'outcome_unknown', count: 1 }],
  });
});

test('contacts wait while messaging is unreachable, and then get one message each', async () => {
  const messaging = createMessagingDouble(2);
  let away = true;
  const arrived: string[] = [];
  messaging.answers((_request, { recipient }) => {
    if (away) {
      throw new ApiError('SERVICE_UNAVAILABLE', 'not available', {
        retryable: true,
        retry_after_s: 1,
      });
    }
    arrived.push(recipient);
  });
  const { _id } = await storeBroadcast(rig.stores, someContacts(40), { phone_number_id: 'r6' });
  await rig.worker({ messaging, credentials });
  // Some contact has been tried twice.
  await eventually(() => messaging.sent.length > new Set(messaging.recipients()).size);
  away = false;
  await rig.until(_id, 'completed');
  expect(arrived.sort()).toEqual(
    someContacts(40)
      .map(({ recipient }) => recipient)
      .sort(),
  );
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 40, failed: 0 });
});

test('a scheduled broadcast starts within a second of its time, on a worker that started later too', async () => {
  const messaging = createMessagingDouble(2);
  const due = new Date(Date.now() + 2_500);
  const { _id } = await storeBroadcast(rig.stores, someContacts(3), {
    phone_number_id: 'r7',
    scheduled_at: due,
  });
  expect((await rig.load(_id)).status).toBe('scheduled');
  await rig.worker({ messaging, credentials });
  const running_at = Date.now();
  const { started_at } = await rig.until(_id, 'completed');
  expect(started_at?.getTime()).toBeGreaterThanOrEqual(due.getTime());
  expect(started_at?.getTime()).toBeLessThan(Math.max(due.getTime(), running_at) + 1_000);
});

test('a cancel and a start never both succeed', async () => {
  const RACES = 12;
  const messaging = createMessagingDouble(2);
  await rig.worker({ messaging, credentials });
  const outcomes = await Promise.all(
    Array.from({ length: RACES }, async (_, at) => {
      const stored = await storeBroadcast(rig.stores, someContacts(3, at * 10), {
        phone_number_id: `r8-${at}`,
        // The first is cancelled in any case, and the last starts.
        ...(at === 0 && { scheduled_at: new Date(Date.now() + 3_600_000) }),
      });
      // Spreads the cancels over the time in which a broadcast starts.
      await new Promise((resolve) => setTimeout(resolve, at * 120));
      if (at === RACES - 1) {
        await eventually(async () => (await rig.load(stored._id)).started_at !== null);
      }
      const cancelled = await rig.stores.broadcasts.change(
        { partner_id: 'ptn_1' },
        stored._id,
        'cancel',
      );
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
  const { _id } = await storeBroadcast(rig.stores, [], { phone_number_id: 'r9', skipped: 2 });
  await rig.worker({ messaging: createMessagingDouble(), credentials });
  await rig.until(_id, 'completed');
  expect(await shown(_id)).toMatchObject({ total: 0, sent: 0, failed: 0, skipped: 2 });
});

test('deletes the contacts when the broadcast has ended', async () => {
  const { _id } = await storeBroadcast(rig.stores, someContacts(3), { phone_number_id: 'r10' });
  expect(await rig.stores.chunks.contacts(`${_id}/0`)).toHaveLength(3);
  await rig.worker({ messaging: createMessagingDouble(), credentials });
  await eventually(async () => (await rig.stores.chunks.contacts(`${_id}/0`)) === null);
  await eventually(async () => !(await rig.load(_id)).has_contacts);
});

test('each message combines the broadcast’s components with the contact’s params', async () => {
  const messaging = createMessagingDouble(2);
  const contacts = [
    { recipient: phone(1), params: { '1': 'Ada', '2': 'A-17' } },
    { recipient: 'US.4Qm7Zr81Kd02', params: { '1': 'Bo', '2': 'B-18' } },
  ];
  const button = { type: 'button', sub_type: 'url', index: '0' };
  const { _id } = await storeBroadcast(rig.stores, contacts, {
    phone_number_id: 'r11',
    template_components: JSON.stringify([
      { ...button, parameters: [{ type: 'text', text: 'order/{{2}}' }] },
    ]),
  });
  await rig.worker({ messaging, credentials });
  await rig.until(_id, 'completed');
  expect(messaging.sent.map(({ recipient, components }) => ({ recipient, components }))).toEqual(
    contacts.map(({ recipient, params }) => ({
      recipient,
      components: [
        { ...button, parameters: [{ type: 'text', text: `order/${params['2']}` }] },
        { type: 'body', parameters: [{ type: 'text', text: params['1'] }] },
      ],
    })),
  );
});
