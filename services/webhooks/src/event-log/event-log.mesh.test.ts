// The event log on a real database: two replicas write the same partners' events at once.
import type { Unsettled } from '@bmg/common/bus';
import { createLogger } from '@bmg/common/telemetry';
import type { Delivery } from '@bmg/proto/stream';
import { unsettled } from '../../test/builders';
import { createEventLog, type EventLog } from './event-log';
import { ATTEMPTS_OF_EVENT_MAX } from './attempt-log';
import { createEventLogHandlers } from './handlers';
import { eventually } from '../../../../test/testkit/eventually';
import { testDatabase } from '../../../../test/testkit/database';
import { ATTEMPTS } from './store/attempts';
import { createDeliveries } from '../delivery/store';
import { BUCKET_EVENTS_MAX, createEventLogStore, EVENT_LOG } from './store/buckets';
import { indexes } from '../collections';
import { eventLogPurgeRows } from './store/purge';

const SETTINGS = {
  EVENT_LOG_DAYS: 30,
  EVENT_LOG_SEALED: true,
  EVENT_LOG_KEYRING: 'test:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
};
const log = createLogger('test');
const SPAN = { traceId: '', spanId: '', traceFlags: 0 };

const db = testDatabase(indexes);
const replicas: EventLog[] = [];
afterEach(async () => {
  for (const one of replicas.splice(0)) {
    await one.waiters.stop();
    await one.writer.stop();
  }
});

function replica(settings: Partial<typeof SETTINGS> = {}): EventLog {
  const one = createEventLog(
    { ...SETTINGS, ...settings },
    { db, deliveries: createDeliveries(db), log },
  );
  replicas.push(one);
  return one;
}

let serial = 0;
const aPartner = (): string => `ptn_${(serial += 1)}`;

interface Sent extends Unsettled<Delivery> {
  is_done: boolean;
}

function received(message: Partial<Delivery>, partition = 0): Sent {
  const event_id = message.event_id ?? `evt_${(serial += 1)}`;
  const body = Buffer.from(JSON.stringify({ data: { text: event_id } }));
  const sent: Sent = {
    ...unsettled(
      {
        ...{ event_id, event: 'message.received', waba_id: '900', body },
        received_at_ms: Date.now(),
        ...message,
      },
      { partition, done: () => void (sent.is_done = true) },
    ),
    is_done: false,
  };
  return sent;
}

/** Takes the events as the dispatcher does, and delivers them at once. */
function take(one: EventLog, batch: Sent[]): void {
  for (const { message, done } of one.writer.accept(batch)) {
    one.recordAttempt(
      { ...message, body: Buffer.from(message.body), number: 1, span: undefined },
      { result: 'delivered', http_status: 200, error: null, posted: true },
    );
    done();
  }
}

/** Takes the events, and waits until they are logged. */
async function write(one: EventLog, batch: Sent[]): Promise<void> {
  take(one, batch);
  await eventually(() => batch.every(({ is_done }) => is_done));
}

async function list(one: EventLog, partner_id: string, request: object = {}) {
  const handlers = createEventLogHandlers({ ...one, replays: {} as never }).handlers as Record<
    string,
    (request: object, call: object) => Promise<any> // any: the reply of each RPC
  >;
  const call = { deadline: Date.now() + 60_000, span: SPAN, request_id: '' };
  return handlers['listEvents']?.({ partner_id, limit: 0, wait: 0, ...request }, call);
}

/** The positions of a page, where to continue, and whether there is more. */
async function placesIn(one: EventLog, partner_id: string, request: object) {
  const { events, next, has_more } = await list(one, partner_id, request);
  return [events.map(({ seq }: { seq: number }) => seq), next, has_more];
}

/** Reads the whole log in small pages. */
async function readAll(one: EventLog, partner_id: string, limit = 7): Promise<any[]> {
  const events = [];
  let after = 0;
  for (;;) {
    const page = await list(one, partner_id, { after, limit });
    events.push(...page.events);
    after = page.next;
    if (!page.has_more) return events;
  }
}

/** An attempt of a repeated event is recorded shortly after the event is released. */
// any: an event of the list
const withoutDelivery = ({ delivery: _, ...event }: any): object => event;

test('gives every event one position, without gaps and in order, while two replicas race', async () => {
  const partners = [aPartner(), aPartner(), aPartner()];
  const [one, two] = [replica(), replica()];
  /** The messages of two Kafka partitions; those that are done are committed. */
  const partitions: Sent[][] = [[], []];
  for (let round = 0; round < 12; round += 1) {
    for (const [partition, messages] of partitions.entries()) {
      // Every third round the partitions change hands: the new owner reads from the first
      // uncommitted message on, while the old one still has these in memory.
      const owner = (partition + Math.floor(round / 3)) % 2 === 0 ? one : two;
      const uncommitted = messages.findIndex(({ is_done }) => !is_done);
      const again = round % 3 === 0 && uncommitted >= 0 ? messages.slice(uncommitted) : [];
      const fresh = partners.map((partner_id) =>
        received({ partner_id, event: `${partition}.${round}` }, partition),
      );
      take(owner, [...again, ...fresh]);
      messages.push(...fresh);
    }
    // Lets some of the round be stored, and leaves some in memory.
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  const sent = partitions.flat();
  await eventually(() => sent.every(({ is_done }) => is_done));
  for (const partner_id of partners) {
    const events = await readAll(one, partner_id);
    const others = await readAll(two, partner_id);
    expect(others.map(withoutDelivery)).toEqual(events.map(withoutDelivery));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1));
    for (const messages of partitions) {
      const [{ event: first = '' } = {}] = messages.map(({ message }) => message);
      const own = messages.filter(({ message }) => message.partner_id === partner_id);
      const logged = events.filter(({ event }) => event[0] === first[0]);
      expect(logged.map(({ event_id }) => event_id)).toEqual(
        own.map(({ message }) => message.event_id),
      );
    }
    for (const { envelope, event_id, delivery } of events) {
      expect(JSON.parse(envelope).data.text).toBe(event_id);
      expect(delivery).toMatchObject({ status: 'delivered', last_http_status: 200 });
    }
  }
});

test('writes the events of a partner that has more of them than a bucket holds', async () => {
  const [one, partner_id] = [replica(), aPartner()];
  const sent = Array.from({ length: 2.5 * BUCKET_EVENTS_MAX }, () => received({ partner_id }));
  await write(one, sent);
  const events = await readAll(one, partner_id, 1_000);
  expect(events.map(({ event_id }) => event_id)).toEqual(
    sent.map(({ message }) => message.event_id),
  );
  // Many events in a document, with their attempts; late attempts share one too.
  expect(await db.collection(EVENT_LOG).countDocuments({ partner_id })).toBe(3);
  const ids = sent.map(({ message }) => message.event_id);
  const apart = { 'attempts.event_id': { $in: ids } };
  expect(await db.collection(ATTEMPTS).countDocuments(apart)).toBeLessThanOrEqual(3);
  expect(events.every(({ delivery }) => delivery.attempts === 1)).toBe(true);
});

test('reads an event with thousands of attempts with its latest ones, and hides no others', async () => {
  const ATTEMPTS_MADE = 2_500;
  const [one, partner_id] = [replica(), aPartner()];
  const sent = [received({ partner_id }), received({ partner_id })];
  await write(one, sent);
  const [hot, other] = sent.map(({ message }) => message) as [Delivery, Delivery];
  // Each attempt is in a batch of its own.
  const batches = await Promise.all(
    Array.from({ length: ATTEMPTS_MADE }, async (_unused, at) => {
      const _id = `att_${partner_id}_${String(at).padStart(6, '0')}`;
      const attempt = {
        event_id: hot.event_id,
        partner_id,
        waba_id: '900',
        number: at + 2,
        at: new Date(Date.now() + at),
        duration_ms: 5,
        result: 'refused' as const,
        http_status: 500,
        error: null,
        url: 'https://partner.example/hook',
        secret: null,
      };
      const answers = JSON.stringify([`${at} ${'x'.repeat(1_000)}`]);
      const packed = await one.packer.pack(`attempts/${_id}`, Buffer.from(answers));
      return { _id, attempts: [attempt], packed, expires_at: new Date(Date.now() + 3_600_000) };
    }),
  );
  await db.collection<(typeof batches)[number]>(ATTEMPTS).insertMany(batches);
  let taken = 0;
  const room = { reserve: async () => undefined, took: (bytes: number) => void (taken = bytes) };
  const [found] = await one.reader.find(partner_id, [hot.event_id], room, 'with_answers');
  const numbers = found?.each_attempt.map(({ number }) => number) as number[];
  expect(numbers.slice(-2)).toEqual([ATTEMPTS_MADE, ATTEMPTS_MADE + 1]);
  // The first one is stored with the event.
  expect(numbers.length).toBeLessThanOrEqual(ATTEMPTS_OF_EVENT_MAX + 1);
  expect(found?.each_attempt.at(-1)?.answer).toMatch(`${ATTEMPTS_MADE - 1} xxx`);
  // The answers count towards the bytes that the partner holds.
  expect(taken).toBeGreaterThan(ATTEMPTS_OF_EVENT_MAX * 1_000);
  const [without] = await one.reader.find(partner_id, [hot.event_id], room);
  expect(without?.each_attempt.every(({ answer }) => answer === null)).toBe(true);
  const { events } = await list(one, partner_id);
  const stateOf = ({ event_id }: Delivery) =>
    events.find((one: { event_id: string }) => one.event_id === event_id)?.delivery;
  expect(stateOf(other)).toMatchObject({ status: 'delivered', attempts: 1 });
  expect(stateOf(hot)).toMatchObject({ last_http_status: 500 });
});

test('releases an offset once its event is logged and its delivery is settled', async () => {
  const one = replica();
  const partner_id = aPartner();
  const sent = received({ partner_id });
  const [taken] = one.writer.accept([sent]);
  const page = await eventually(async () => {
    const found = await list(one, partner_id);
    return found.events.length > 0 && found;
  });
  expect(page.events[0].delivery).toMatchObject({ status: 'pending', attempts: 0 });
  expect(sent.is_done).toBe(false);
  taken?.done();
  expect(sent.is_done).toBe(true);
});

test('keeps the positions of a partner whose events have all expired', async () => {
  const partner_id = aPartner();
  const one = replica();
  const first = received({ partner_id });
  await write(one, [first]);
  await db
    .collection(EVENT_LOG)
    .updateMany({ partner_id }, { $set: { at: new Date(Date.now() - 32 * 86_400_000) } });
  expect(await list(one, partner_id)).toMatchObject({ events: [], oldest: 2, newest: 1, next: 1 });
  await expect(list(one, partner_id, { after: 0 })).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    details: { field: 'after', oldest: 2, newest: 1 },
  });
  await createEventLogStore(db).expire(new Date(Date.now() - 31 * 86_400_000));
  expect(await db.collection(EVENT_LOG).countDocuments({ partner_id })).toBe(0);
  const later = received({ partner_id });
  await write(replica(), [later]);
  expect(await list(one, partner_id)).toMatchObject({ events: [{ seq: 2 }], oldest: 2, newest: 2 });
});

test('wakes a waiting request at once for its own write, and soon for another replica’s', async () => {
  const partner_id = aPartner();
  const [one, two] = [replica(), replica()];
  for (const writer of [one, two]) {
    const { newest } = await list(one, partner_id);
    const started = performance.now();
    const waiting = list(one, partner_id, { after: newest, wait: 20 });
    take(writer, [received({ partner_id })]);
    expect((await waiting).events).toHaveLength(1);
    // Before the end of the wait.
    expect(performance.now() - started).toBeLessThan(15_000);
  }
});

test('filters by name, account and time, and returns the position to continue after', async () => {
  const partner_id = aPartner();
  const one = replica();
  const sent = ['a', 'b', 'a', 'b'].map((event, index) =>
    received({ partner_id, event, waba_id: index < 2 ? '900' : '901' }),
  );
  await write(one, sent);
  const names = (request: object) => placesIn(one, partner_id, request);
  expect(await names({ event: 'b' })).toEqual([[2, 4], 4, false]);
  expect(await names({ event: 'a,b', waba_id: '901', limit: 1 })).toEqual([[3], 3, true]);
  expect(await names({ event: 'none' })).toEqual([[], 4, false]);
  const later = new Date(Date.now() + 60_000).toISOString();
  expect(await names({ from: later })).toEqual([[], 4, false]);
  expect(await names({ to: '2020-01-01T00:00:00Z' })).toEqual([[], 0, false]);
  await expect(list(one, partner_id, { after: 5 })).rejects.toMatchObject({
    details: { field: 'after', newest: 4 },
  });
});

test('filters by contact, however its number is written, and lets no other wake a waiter', async () => {
  const partner_id = aPartner();
  const one = replica();
  const from = (number: string) =>
    received({ partner_id, body: Buffer.from(JSON.stringify({ data: { from: number } })) });
  const positions = (request: object) => placesIn(one, partner_id, request);
  take(one, [from('15550100777'), from('15550100778'), from('15550100777')]);
  await eventually(async () => (await list(one, partner_id)).newest === 3);
  expect(await positions({ contact: '+1 (555) 010-0777', limit: 1 })).toEqual([[1], 1, true]);
  expect(await positions({ contact: '15550100777', event: 'none' })).toEqual([[], 3, false]);
  await expect(list(one, partner_id, { contact: 'nobody' })).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    details: { field: 'contact' },
  });
  const waiting = positions({ contact: '15550100779', after: 3, wait: 20 });
  for (const [number, seq] of [
    ['15550100777', 4],
    ['15550100779', 5],
  ] as const) {
    take(one, [from(number)]);
    await eventually(async () => (await list(one, partner_id)).newest === seq);
  }
  expect(await waiting).toEqual([[5], 5, false]);
});

test('a page holds at most the bytes that its caller has room for, and always one event', async () => {
  const partner_id = aPartner();
  const one = replica();
  const body = Buffer.from(JSON.stringify({ data: { text: 'x'.repeat(1_000) } }));
  const sent = Array.from({ length: 5 }, () => received({ partner_id, body }));
  await write(one, sent);
  const positions = (request: object) => placesIn(one, partner_id, request);
  const max_bytes = 2 * body.length;
  expect(await positions({ max_bytes })).toEqual([[1, 2], 2, true]);
  expect(await positions({ max_bytes, after: 2 })).toEqual([[3, 4], 4, true]);
  expect(await positions({ max_bytes, after: 4 })).toEqual([[5], 5, false]);
  expect(await positions({ max_bytes: 1 })).toEqual([[1], 1, true]);
  expect(await positions({})).toEqual([[1, 2, 3, 4, 5], 5, false]);
});

test('narrows down to the time at which events entered the log, both ends included', async () => {
  const partner_id = aPartner();
  const one = replica();
  const days: Date[] = [];
  for (let day = 1; day <= 3; day += 1) {
    const sent = [received({ partner_id }), received({ partner_id })];
    await write(one, sent);
    const at = new Date(Date.now() - (5 - day) * 86_400_000);
    const last = { partner_id, last: 2 * day };
    await db.collection(EVENT_LOG).updateOne(last, { $set: { at } });
    days.push(at);
  }
  const [first, second, third] = days.map((day) => day.toISOString());
  const after = (day: Date | undefined, ms: number) => new Date(Number(day) + ms).toISOString();
  const positions = async (request: object) =>
    (await list(one, partner_id, request)).events.map(({ seq }: { seq: number }) => seq);
  expect(await positions({})).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await positions({ from: second })).toEqual([3, 4, 5, 6]);
  expect(await positions({ to: second })).toEqual([1, 2, 3, 4]);
  expect(await positions({ from: second, to: second })).toEqual([3, 4]);
  expect(await positions({ from: after(days[0], 1), to: after(days[2], -1) })).toEqual([3, 4]);
  expect(await positions({ from: first, to: third, after: 1, limit: 2 })).toEqual([2, 3]);
  expect(await positions({ from: after(days[2], 1) })).toEqual([]);
  for (const [field, request] of [
    ['from', { from: 'yesterday' }],
    ['to', { from: third, to: first }],
  ] as const) {
    await expect(list(one, partner_id, request)).rejects.toMatchObject({
      code: 'INVALID_FIELD',
      details: { field },
    });
  }
});

test('stores no text in clear, and a purge removes one account’s events and answers', async () => {
  const partner_id = aPartner();
  const one = replica();
  const body = Buffer.from('{"text":"a private matter"}');
  const sent = [
    received({ partner_id, waba_id: '900', body }),
    received({ partner_id, waba_id: '901', body }),
  ];
  const [kept, gone] = one.writer.accept(sent);
  const refused = (received: Unsettled<Delivery> | undefined) =>
    one.recordAttempt(
      { ...(received?.message as Delivery), body, number: 1, span: undefined },
      {
        result: 'refused',
        http_status: 500,
        error: 'HTTP 500',
        posted: true,
        trace: { at: Date.now(), duration_ms: 1, url: 'u', secret: 's', answer: 'private too' },
      },
    );
  for (const each of [kept, gone]) refused(each);
  await eventually(async () => (await list(one, partner_id)).newest === 2);
  for (const each of [kept, gone]) refused(each);
  for (const each of [kept, gone]) each?.done();
  await eventually(() => sent.every(({ is_done }) => is_done));
  for (const { name } of await db.listCollections().toArray()) {
    const text = (await db.collection(name).find().toArray()).map((one) =>
      JSON.stringify(one, (_key, value) =>
        value?._bsontype === 'Binary' ? value.buffer.toString('latin1') : value,
      ),
    );
    expect(text.join()).not.toContain('private');
  }
  const rows = eventLogPurgeRows(replica().packer);
  const scope = { partner_id, waba_id: '901' };
  expect(await Promise.all(rows.map((row) => row.rewrite(scope, db, true)))).toEqual([1, 1]);
  expect(await Promise.all(rows.map((row) => row.rewrite(scope, db, false)))).toEqual([1, 1]);
  expect(await Promise.all(rows.map((row) => row.rewrite(scope, db, true)))).toEqual([0, 0]);
  const page = await list(one, partner_id);
  expect(page).toMatchObject({ events: [{ seq: 1, waba_id: '900' }], next: 2, newest: 2 });
  const ids = sent.map(({ message }) => message.event_id);
  const find = (of: string) =>
    one.reads.hold(of, {}, (room) => one.reader.find(of, ids, room, 'with_answers'));
  const found = await find(partner_id);
  expect(found.map(({ event_id }) => event_id)).toEqual([ids[0]]);
  expect(found[0]?.each_attempt.map(({ answer }) => answer)).toEqual([
    'private too',
    'private too',
  ]);
  expect(await find('ptn_other')).toEqual([]);
});

test('opens sealed buckets after sealing is switched off', async () => {
  const partner_id = aPartner();
  const sent = received({ partner_id });
  await write(replica(), [sent]);
  const open = replica({ EVENT_LOG_SEALED: false });
  const later = received({ partner_id });
  await write(open, [later]);
  const { events } = await list(open, partner_id);
  expect(
    events.map(({ envelope }: { envelope: string }) => JSON.parse(envelope).data.text),
  ).toEqual([sent.message.event_id, later.message.event_id]);
});
