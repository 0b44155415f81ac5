// Requeues, later pages and the oldest delivery in a real database.
import { emptyDatabase, testDatabase } from '../../../../test/testkit/database';
import { createDeliveries, DELIVERIES, type StoredDelivery } from './store';

const NOW = new Date('2026-10-05T12:00:00Z');
const LATER = new Date('2026-10-05T13:00:00Z');
const BATCH_MAX = 100;

const db = testDatabase({}, { monitorCommands: true });
beforeEach(() => emptyDatabase(db));
const store = (...rows: StoredDelivery[]) =>
  db.collection<StoredDelivery>(DELIVERIES).insertMany(rows);

const row = (at: number, change: Partial<StoredDelivery> = {}): StoredDelivery => ({
  _id: `evt_${at}`,
  partner_id: 'ptn_1',
  event: 'message.sent',
  waba_id: '9',
  phone_number_id: '8',
  conversation: '8|1',
  partition: 0,
  order: at,
  body: '{}',
  status: 'retrying',
  attempts: 1,
  created_at: NOW,
  received_at: NOW,
  last_attempt_at: NOW,
  next_attempt_at: LATER,
  last_http_status: 500,
  last_error: null,
  expires_at: new Date('2100-01-01T00:00:00Z'),
  ...change,
});

test('requeues every delivery of a partner, a batch at a time', async () => {
  const rows = Array.from({ length: 250 }, (_unused, at) =>
    row(at, at % 2 === 0 ? {} : { status: 'failed', next_attempt_at: null }),
  );
  await store(...rows, row(1_000, { partner_id: 'ptn_2' }));
  const sizes: number[] = [];
  db.client.on('commandStarted', ({ command }) => {
    for (const { q } of command['updates'] ?? []) sizes.push(q._id.$in.length);
  });

  expect(await createDeliveries(db).requeueAll('ptn_1', NOW)).toBe(250);

  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(250);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(BATCH_MAX);
  const due = await db.collection(DELIVERIES).find({ next_attempt_at: NOW }).toArray();
  expect(due).toHaveLength(250);
  expect(new Set(due.map(({ status }) => status))).toEqual(new Set(['retrying']));
});

test('finds the oldest delivery that is retried, in any partition', async () => {
  expect(await createDeliveries(db).oldest()).toBeUndefined();
  const hour = (hour: number): Date => new Date(`2026-10-05T0${hour}:00:00Z`);
  await store(
    row(1, { created_at: hour(3) }),
    row(2, { created_at: hour(2), partition: 7, partner_id: 'ptn_2' }),
    row(3, { created_at: hour(1), partition: 7, status: 'failed', next_attempt_at: null }),
  );
  expect(await createDeliveries(db).oldest()).toEqual({
    _id: 'evt_2',
    partner_id: 'ptn_2',
    created_at: hour(2),
  });
});

test('pages through failed and overdue deliveries, those of one time by their IDs', async () => {
  const rows = Array.from({ length: 10 }, (_unused, at) => {
    const time = new Date(NOW.getTime() + Math.floor(at / 4));
    return row(at, { created_at: time, next_attempt_at: time });
  });
  await store(...rows);
  const deliveries = createDeliveries(db);
  const listed: string[] = [];
  const overdue: string[] = [];
  for (let page = 0; page < 4; page += 1) {
    const [shown, due] = [rows[listed.length - 1], rows[overdue.length - 1]];
    const after = shown && { created_at: shown.created_at, event_id: shown._id };
    const found = await deliveries.listOf('ptn_1', ['retrying'], { limit: 3, bytes: 1e6, after });
    listed.push(...found.rows.map(({ _id }) => _id));
    const waiting = await deliveries.overdue([0], LATER, { after: due, limit: 3 });
    overdue.push(...waiting.map(({ _id }) => _id));
  }
  const ids = rows.map(({ _id }) => _id);
  expect({ listed, overdue }).toEqual({ listed: ids, overdue: ids });
});

test('counts the deliveries to the webhook URL that were attempted and not accepted', async () => {
  await store(
    row(1),
    row(2, { status: 'failed' }),
    row(3, { created_at: new Date(NOW.getTime() - 1) }),
    row(4, { attempts: 0 }),
    row(5, { partner_id: 'ptn_2' }),
    row(6, { endpoint_id: 'whe_1' }),
  );
  expect(await createDeliveries(db).countRefused('ptn_1', NOW)).toBe(2);
});
