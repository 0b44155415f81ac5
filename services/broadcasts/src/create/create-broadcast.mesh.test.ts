import { randomUUID } from 'node:crypto';
import { phone } from '../../test/builders';
import { TARGET, useService, WAITING_MAX } from '../../test/service';
import { aCredential } from '../../test/worker';

const rig = useService();
const usual = rig.credential;
afterEach(() => void (rig.credential = usual));
const LATER = new Date(Date.now() + 3_600_000);

/** It takes half a second on an idle machine. */
const CREATE_LIMIT_MS = 8_000;

test('checks and stores 10,000 contacts within one request', async () => {
  const contacts = Array.from({ length: 10_000 }, (_, at) => ({
    recipient: `+1 (555) ${String(1_000_000 + at)}`,
    params: { '1': `Ada ${at}`, '2': `A-${at}` },
  }));
  const before = performance.now();
  const created = await rig.create({
    template_name: 'order',
    contacts,
    scheduled_at: LATER,
  });
  const took = performance.now() - before;
  expect(created).toMatchObject({ status: 'scheduled', total: 10_000, skipped: 0, duplicates: 0 });
  expect(took).toBeLessThan(CREATE_LIMIT_MS);
});

test('stores nothing of a request that is refused', async () => {
  const list = () =>
    rig.rpc.listBroadcasts({ partner_id: 'ptn_1', limit: 1, offset: 0 }, rig.call());
  const before = await list();
  const contacts = [{ recipient: phone(1) }];
  await expect(rig.create({ contacts, name: ' ', template_name: '' })).rejects.toMatchObject({
    code: 'MISSING_FIELDS',
    details: { fields: ['name', 'template_name'] },
  });
  await expect(rig.create({ contacts: [] })).rejects.toMatchObject({ code: 'MISSING_FIELDS' });
  await expect(rig.create({ scheduled_at: new Date(Date.now() - 1_000) })).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    details: { field: 'scheduled_at' },
  });
  await expect(rig.create({ template_name: 'tired' })).rejects.toMatchObject({
    code: 'UPSTREAM_ERROR',
    upstream_code: 132_015,
    retryable: false,
  });
  await expect(rig.create({ template_name: 'order', contacts })).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    details: { field: 'contacts[0].params' },
  });
  expect((await list()).total).toBe(before.total);
});

test('refuses a number that may not send, unless the broadcast is scheduled', async () => {
  rig.credential = aCredential({ sending: 'paused' });
  const target = { ...TARGET, phone_number_id: '701' };
  const refused = { code: 'NO_ACTIVE_WABA', retryable: true };
  await expect(rig.create({ target })).rejects.toMatchObject(refused);
  expect(await rig.create({ target, scheduled_at: LATER })).toMatchObject({ status: 'scheduled' });
});

test('warns of exceeding the messaging limit at creation, and when the request is repeated', async () => {
  rig.credential = aCredential({ messaging_limit_tier: 'TIER_250' });
  const idempotency = { key: 'limit-1', fingerprint: 'f' };
  const request = {
    target: { ...TARGET, phone_number_id: '702' },
    scheduled_at: LATER,
    contacts: Array.from({ length: 251 }, (_, at) => ({ recipient: phone(at) })),
  };
  const created = await rig.create(request, { idempotency });
  expect(created).toMatchObject({ total: 251, warnings: [{ code: 'MESSAGING_LIMIT' }] });
  expect(await rig.create(request, { idempotency })).toEqual(created);
  const fewer = await rig.create({ ...request, contacts: request.contacts.slice(1) });
  expect(fewer.warnings).toEqual([]);
});

test.each([
  ['in several runs', () => ({ key: randomUUID(), given: 'order-1' })],
  ['in one run of the previous release', () => ({ key: 'run-1' })],
])(
  'one Idempotency-Key creates one broadcast, and refuses another body: %s',
  async (_name, run) => {
    const aRun = (fingerprint = 'f-1') => ({ idempotency: { ...run(), fingerprint } });
    const answers = await Promise.allSettled(
      Array.from({ length: 4 }, () => rig.create({ scheduled_at: LATER }, aRun())),
    );
    const created = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? [answer.value] : [],
    );
    const refused = answers.flatMap((answer) =>
      answer.status === 'rejected' ? [answer.reason] : [],
    );
    expect(created.length).toBeGreaterThan(0);
    expect(new Set(created.map(({ broadcast_id }) => broadcast_id)).size).toBe(1);
    for (const error of refused) expect(error).toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });
    expect(await rig.create({ scheduled_at: LATER }, aRun())).toEqual(created[0]);
    await expect(rig.create({ scheduled_at: LATER }, aRun('f-2'))).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
  },
);

test('a retry of the run that a replica of the previous release began creates nothing', async () => {
  const run = { key: randomUUID(), fingerprint: 'f' };
  const first = await rig.create({ scheduled_at: LATER }, { idempotency: run });
  const again = { ...run, given: 'order-2' };
  expect(await rig.create({ scheduled_at: LATER }, { idempotency: again })).toEqual(first);
  expect(again).not.toHaveProperty('replayed');
});

test('a partner with the most broadcasts that may wait gets no further one until it cancels', async () => {
  const partner_id = 'ptn_many';
  const create = (of = partner_id) =>
    rig.create({ target: { ...TARGET, partner_id: of }, scheduled_at: LATER });
  const created = await Promise.all(Array.from({ length: WAITING_MAX }, () => create()));
  await expect(create()).rejects.toMatchObject({
    code: 'QUOTA_EXCEEDED',
    http: 429,
    retryable: true,
    details: { limit: WAITING_MAX },
  });
  expect(await create('ptn_few')).toMatchObject({ status: 'scheduled' });
  const { broadcast_id } = created[0] as { broadcast_id: number };
  await rig.rpc.cancelBroadcast({ partner_id, broadcast_id }, rig.call());
  expect(await create()).toMatchObject({ status: 'scheduled' });
});
