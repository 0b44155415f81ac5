// Gap repair against the emulator's message history, with a real record and real limits.
import { randomUUID } from 'node:crypto';
import type { Outgoing, Received } from '@bmg/common/bus';
import type { Poller } from '@bmg/common/lifecycle';
import { openRedis, type RedisConnection } from '@bmg/common/redis';
import { createLogger, metrics } from '@bmg/common/telemetry';
import { createUpstream, type Upstream } from '@bmg/common/upstream';
import type { Outage, UpstreamWebhook } from '@bmg/proto/stream';
import { startEmulator, type Emulator } from '../../../../test/emulator';
import { eventually } from '../../../../test/testkit/eventually';
import { createOverdueRecords } from './store';
import { createContacts } from '../contacts/store';
import { indexes } from '../collections';
import type { MessageRecord } from '../messages/message-record';
import { createMessages } from '../messages/store';
import { createLosses } from './losses';
import { applyOutages } from './feature';
import { createHistoryQuota } from './history-quota';
import { createGapRepair } from './repair';
import { aRecord, aStatus, SCOPE } from '../../test/builders';
import { aCall } from '../../../../test/testkit/call';
import { emptyDatabase, testDatabase } from '../../../../test/testkit/database';

const { waba_id, phone_number_id } = SCOPE;
const TOKEN = 'EMULATED-TOKEN-1';
const HISTORY = '/message_history$';
const DELAY_MS = 3_600_000;
const DAY_MS = 86_400_000;
const log = createLogger('gap-repair-test');

const db = testDatabase(indexes);
let emulator: Emulator;
let redis: RedisConnection;
let upstream: Upstream;
let clock: number;
let published: unknown[];
let repairs: Poller[];

beforeAll(async () => {
  emulator = await startEmulator({ port: 0, webhook_url: 'http://127.0.0.1:9/none' });
  upstream = createUpstream({
    UPSTREAM_URL: emulator.url,
    UPSTREAM_API_VERSION: 'v26.0',
    UPSTREAM_TIMEOUT_MS: 60_000,
  });
});
afterAll(async () => {
  await upstream.stop();
  await emulator.close();
});
beforeEach(async () => {
  await emulator.reset();
  await emulator.patchAccount(waba_id, { subscribed: true });
  await emulator.limits({ rate_per_sec: 'off' });
  await emulator.behaviour({ swallow: 1, delays_ms: { sent: 1, delivered: 2, read: 3 } });
  redis = openRedis(
    { REDIS_URL: process.env['REDIS_URL'] as string, REDIS_KEY_PREFIX: `${randomUUID()}:` },
    log,
  );
  await redis.start(new AbortController().signal);
  clock = Date.now();
  published = [];
  repairs = [];
});
afterEach(async () => {
  await Promise.all(repairs.map((repair) => repair.stop()));
  await redis.stop();
  await emptyDatabase(db);
});

const now = (): Date => new Date(clock);

/** One replica of the repair. */
async function startRepair(per_minute = 1_000): Promise<Poller> {
  const repair = createGapRepair({
    overdue: createOverdueRecords({ db, background: db }),
    contacts: createContacts(db),
    credentials: { of: async () => ({ access_token: TOKEN, sending: 'active' }) },
    upstream,
    bus: {
      publish: async (messages: Outgoing<UpstreamWebhook>[]) => {
        for (const { message } of messages) {
          expect(message.reconciled).toBe(true);
          const body = JSON.parse(Buffer.from(message.body).toString('utf8'));
          published.push(...body.entry[0].changes[0].value.statuses);
        }
      },
    },
    redis,
    quota: createHistoryQuota(redis, per_minute),
    losses: createLosses(redis, now),
    delay_ms: DELAY_MS,
    now,
    log,
  });
  repairs.push(repair);
  await repair.start(new AbortController().signal);
  return repair;
}

/** Sends at the emulator and records the send; its webhooks are lost. */
async function send(over: Partial<MessageRecord> = {}): Promise<MessageRecord> {
  const answer = await upstream.request(
    {
      operation: 'POST /{phone_number_id}/messages',
      method: 'POST',
      path: `/${phone_number_id}/messages`,
      token: TOKEN,
      body: { messaging_product: 'whatsapp', to: '15550100777', text: { body: 'Hello' } },
    },
    aCall(),
  );
  const message_id = (answer['messages'] as Array<{ id: string }>)[0]?.id as string;
  const record = aRecord(now(), { _id: `msg_${message_id}`, message_id, ...over });
  await createMessages(db, DELAY_MS).record(record);
  return record;
}

const requestCount = async (): Promise<number> =>
  (await emulator.requests({ path: HISTORY })).length;
const stored = ({ _id }: MessageRecord) =>
  db.collection<MessageRecord>('messages').findOne({ _id });
const postponed = (messages: MessageRecord[], until = clock) =>
  eventually(async () => {
    const all = await Promise.all(messages.map(stored));
    return all.every((one) => (one?.check_at as Date).getTime() > until);
  });
const repaired = (): string[] =>
  (published as Array<{ status: string }>).map(({ status }) => status);

test('requests the history of an overdue message once, even with two replicas', async () => {
  const message = await send();
  expect(await emulator.settled()).toBe(true);
  for (const counter of [metrics.gap_repair_requests, metrics.gap_repair_statuses]) counter.reset();
  await Promise.all([startRepair(), startRepair()]);
  clock += DELAY_MS - 1_000;
  for (const repair of repairs) repair.wake();
  expect(await requestCount()).toBe(0);
  clock += 2_000;
  await eventually(async () => (await stored(message))?.checks === 1);
  expect(repaired()).toEqual(['sent', 'delivered', 'read']);
  expect(await requestCount()).toBe(1);
  expect((await stored(message))?.check_at).toEqual(new Date(clock + 4 * DELAY_MS));
  expect((await metrics.gap_repair_requests.get()).values).toEqual([
    expect.objectContaining({ labels: { outcome: 'ok' }, value: 1 }),
  ]);
  const { values } = await metrics.gap_repair_statuses.get();
  expect(values.map(({ labels, value }) => [labels.status, value])).toEqual([
    ['sent', 1],
    ['delivered', 1],
    ['read', 1],
  ]);
});

test('requests nothing after a final status, and at most three times otherwise', async () => {
  const [read, silent] = [await send(), await send()];
  await createMessages(db).applyStatuses([aStatus(read, 'read')]);
  expect(await stored(read)).not.toHaveProperty('check_at');
  await startRepair();
  for (const checks of [1, 2, 3]) {
    clock += DAY_MS - 1;
    await eventually(async () => (await stored(silent))?.checks === checks);
  }
  expect(await stored(silent)).not.toHaveProperty('check_at');
  expect(await requestCount()).toBe(3);
});

test.each([
  ['code 10', { error: { code: 10 } }],
  ['code 2500', { error: { code: 2500 } }],
  ['a 404 without a reason', { html: { status: 404 } }],
])('remembers a refusal with %s for a day', async (_name, effect) => {
  await emulator.fault({ match: { path: HISTORY }, times: -1, ...effect });
  const messages = await Promise.all([1, 2, 3].map(() => send()));
  clock += DELAY_MS;
  await startRepair();
  // Requests that were sent together may all have been refused.
  await eventually(async () => (await requestCount()) > 0);
  await postponed(messages);
  const before = await requestCount();
  clock += DELAY_MS;
  repairs[0]?.wake();
  await postponed(messages, clock + DAY_MS / 2);
  expect(await requestCount()).toBe(before);
  expect(published).toEqual([]);
});

test('pauses an account whose limit the upstream reports', async () => {
  await emulator.fault({ match: { path: HISTORY }, times: 1, error: { code: 80007 } });
  const message = await send();
  clock += DELAY_MS;
  await startRepair();
  await eventually(async () => (await requestCount()) === 1);
  await eventually(async () => (await redis.redis.exists(`bmg:history:paused:${waba_id}`)) === 1);
  clock += 300_000;
  await postponed([message]);
  expect(await requestCount()).toBe(1);
});

test('takes no more than the share of an account, and repairs unknown messages first', async () => {
  const messages = await Promise.all(Array.from({ length: 12 }, () => send()));
  await db.collection('messages').updateMany({}, { $set: { status: 'delivered' } });
  clock += DELAY_MS;
  await startRepair(6);
  await postponed(messages);
  // Messages of which only the read receipt can be missing get half of the share.
  expect(await requestCount()).toBe(3);
  const unknown = await send({ sent_at: new Date(clock - DELAY_MS) });
  await eventually(async () => (await stored(unknown))?.checks === 1);
  expect(await requestCount()).toBe(4);
});

test('repairs the messages of an outage soon after it', async () => {
  const sent = await send();
  await db.collection('messages').updateMany({}, { $unset: { check_at: true } });
  const message = { from_ms: clock + 1_000, to_ms: clock + 61_000 };
  clock += 62_000;
  const apply = applyOutages({
    overdue: createOverdueRecords({ db, background: db }),
    delay_ms: DELAY_MS,
    now,
    log,
  });
  await apply([{ message } as Received<Outage>]);
  const due = (await stored(sent))?.check_at as Date;
  expect(due.getTime() - clock).toBe(300_000);
  // Another outage does not postpone the repair, and has nothing to write.
  clock += 10_000;
  const overdue = { expedite: jest.fn(createOverdueRecords({ db, background: db }).expedite) };
  const again = applyOutages({ overdue, delay_ms: DELAY_MS, now, log });
  await again([{ message } as Received<Outage>]);
  expect(await overdue.expedite.mock.results[0]?.value).toBe(0);
  expect((await stored(sent))?.check_at).toEqual(due);
  clock += 290_000;
  await startRepair();
  await eventually(() => repaired().length === 3);
});
