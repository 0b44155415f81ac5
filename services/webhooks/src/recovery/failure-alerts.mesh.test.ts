// Reports of refused deliveries, counted in a real database.
import { MongoClient, type Db } from 'mongodb';
import { createDeliveries, type StoredDelivery } from '../delivery/store';
import { raiseFailureAlerts } from './failure-alerts';

const NOW = new Date('2026-10-05T12:00:00Z');
let client: MongoClient;
let db: Db;
beforeAll(async () => {
  client = new MongoClient(process.env['MONGO_URL'] as string, { ignoreUndefined: true });
  db = client.db(`failure-alerts-${process.pid}-${Date.now()}`);
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

let serial = 0;
const refused = (change: Partial<StoredDelivery> = {}): StoredDelivery => ({
  _id: `evt_${(serial += 1)}`,
  partner_id: 'ptn_1',
  event: 'message.sent',
  waba_id: '9',
  phone_number_id: '8',
  conversation: '8|1',
  partition: 0,
  order: serial,
  body: '{}',
  status: 'retrying',
  attempts: 1,
  created_at: NOW,
  received_at: NOW,
  last_attempt_at: NOW,
  next_attempt_at: NOW,
  last_http_status: 500,
  last_error: null,
  expires_at: new Date('2100-01-01T00:00:00Z'),
  ...change,
});

test('reports a partner whose receiver has refused as many of today’s events as its threshold', async () => {
  const deliveries = createDeliveries(db);
  const yesterday = new Date('2026-10-04T23:59:59Z');
  for (const row of [
    refused(),
    refused({ status: 'failed' }),
    refused({ created_at: yesterday }),
    refused({ attempts: 0 }),
    refused({ partner_id: 'ptn_2' }),
  ]) {
    await deliveries.put(row);
  }
  const raised: unknown[] = [];
  const report = (threshold: string): Promise<void> =>
    raiseFailureAlerts({
      deliveries,
      alerts: {
        listWatchers: async () => ({ watchers: [{ partner_id: 'ptn_1', threshold }] }),
        raiseAlert: async (alert) => (raised.push(alert), {}),
      },
      now: () => NOW,
      log: {} as never,
    });
  await report('3');
  expect(raised).toEqual([]);
  await report('2');
  expect(raised).toEqual([
    { partner_id: 'ptn_1', cause: 'webhook_failures', day: '2026-10-05', value: '2' },
  ]);
});
