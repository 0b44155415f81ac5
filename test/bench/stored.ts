// What the stores' own queries take with 1, 10 and 100 times the rows, and what an event costs with
// many registered numbers and known customers. For the queries each size has databases of its own
// on one server, and the sizes take turns, so that the load of the machine is the same.
import { MongoClient, type Db, type Document } from 'mongodb';
import { indexes as ofBroadcasts } from '@bmg/broadcasts/collections';
import { createBroadcastStore } from '@bmg/broadcasts/records/broadcasts';
import { createIndexes } from '@bmg/common/mongo';
import { createMessageList } from '@bmg/messaging/message-log/store';
import { indexes as ofMessaging } from '@bmg/messaging/collections';
import { createStores, indexes as ofOnboarding } from '@bmg/onboarding/stores';
import { indexes as ofWebhooks } from '@bmg/webhooks/collections';
import { createDeliveries } from '@bmg/webhooks/delivery/store';
import { createAttemptLog } from '@bmg/webhooks/event-log/attempt-log';
import { packBodies } from '@bmg/webhooks/event-log/bodies';
import { createPacker } from '@bmg/webhooks/event-log/packer';
import { createReader } from '@bmg/webhooks/event-log/reader';
import { createAttempts } from '@bmg/webhooks/event-log/store/attempts';
import { createEventLogStore, newBucket } from '@bmg/webhooks/event-log/store/buckets';
import { eventLogPurgeRows } from '@bmg/webhooks/event-log/store/purge';
import { quantile } from './load';
import { delaysAt, delayText, throughput } from './measure';
import { prepareMesh, type Setup } from './mesh';
import { withBench } from './processes';
import { teller } from './scale';

const TIMES = [1, 10, 100];
/** Rows of each collection in the smallest database. */
const ROWS = 500;
const ROUNDS = 9;
const INSERTED_AT_ONCE = 2_000;
const PARTITIONS = Array.from({ length: 20 }, (_, index) => index);
const PARTNERS = 5;
const EVENTS_IN_BUCKET = 4;
const PAGE = { after: undefined, limit: 50 };
const TEXT = 'x'.repeat(300);
/** Rows that a sweep finds, whatever else is stored. */
const FOUND = 20;
const DAY_MS = 86_400_000;
const NOW = Date.now();
const PARTNER = 'ptn_1';
const WABA = '901';
/** The fields that most rows have. */
const OWNER = { partner_id: PARTNER, waba_id: WABA, phone_number_id: '801' };
const KEPT_MS = 30 * DAY_MS;
const NO_LIMIT = { reserve: () => Promise.resolve(), took: () => undefined };

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 20_000);
const NUMBERS_AT_FIRST = 10;
const NUMBERS = 100_000;
const CUSTOMERS = 1_000_000;
const RATE = 300;
const RATE_S = 20;
/** The stand-in for MongoDB keeps recently used data in its heap. */
const MONGO_HEAP = '4g';

type Query = [name: string, run: () => Promise<unknown>];

/**
 * The queries of the stores by themselves; then copies of stored rows make numbers that are
 * registered and customers that are known.
 */
export const benchStored = (): Promise<void> =>
  withBench(
    async (bench) => {
      const client = new MongoClient(bench.engines.MONGO_URL, { ignoreUndefined: true });
      try {
        await benchQueries(client);
        if (process.env['BENCH_SHORT'] !== '1') {
          await benchRows(client, await prepareMesh(bench, { partners: NUMBERS_AT_FIRST }));
        }
      } finally {
        await client.close();
      }
    },
    { MONGO_HEAP },
  );

async function benchRows(client: MongoClient, setup: Setup): Promise<void> {
  await throughput(setup, 3 * EVENTS);
  const tellRun = teller(await throughput(setup, EVENTS));
  const measure = async (name: string): Promise<void> => {
    await throughput(setup, EVENTS);
    tellRun(name, await throughput(setup, EVENTS));
    await setup.receiver.report();
    const delayed = await delaysAt(setup, RATE, RATE_S);
    console.log(`  from the 200 to the receiver at ${RATE} /s: ${delayText(delayed)}`);
  };
  await measure('few numbers');
  await addNumbers(client, setup);
  await measure(`${NUMBERS} numbers`);
  await addCustomers(client, setup);
  await measure(`${CUSTOMERS} customers`);
  setup.load.close();
}

type Row = Document & { _id: string };

async function addNumbers(client: MongoClient, { places }: Setup): Promise<void> {
  const db = client.db('onboarding');
  const rows = await db.collection<Row>('clients').find({}).limit(places.length).toArray();
  await fill(db, 'clients', NUMBERS, (index) => {
    const row = rows[index % rows.length] as Row;
    const waba_id = String(910_000_000_000_000 + index);
    const phone_number_id = String(810_000_000_000_000 + index);
    return { ...row, _id: `${row._id}-${index}`, waba_id, phone_number_id };
  });
}

async function addCustomers(client: MongoClient, { places }: Setup): Promise<void> {
  const db = client.db('messaging');
  const [{ waba_id }] = places as [Setup['places'][number]];
  const known = await db.collection<Row>('contacts').findOne({ _id: { $regex: `^${waba_id}/` } });
  await fill(db, 'contacts', CUSTOMERS, (index) => ({
    ...known,
    _id: `${waba_id}/${4_915_100_000_000 + index}`,
  }));
}

/** Prints a row for each query: its median time, and those with more rows against the first. */
async function benchQueries(client: MongoClient): Promise<void> {
  const sizes: Query[][] = [];
  for (const times of TIMES) sizes.push(await prepare(client, times));
  const [queries] = sizes as [Query[]];
  console.log(`${'query'.padEnd(42)} ms with ${ROWS} rows  ${TIMES.slice(1).join(' and ')} times`);
  for (const [at, [name]] of queries.entries()) {
    const taken = sizes.map((): number[] => []);
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [size, all] of sizes.entries()) {
        const begin = performance.now();
        await (all[at] as Query)[1]();
        // The first use of an index builds it in the stand-in.
        if (round > 0) taken[size]?.push(performance.now() - begin);
      }
    }
    const [first = 0, ...more] = taken.map((all) => quantile(all, 0.5));
    const ratios = more.map((one) => (one / first).toFixed(1).padStart(8)).join('');
    console.log(`${name.padEnd(42)} ${first.toFixed(2).padStart(17)}  ${ratios}`);
  }
}

/** Fills the databases of one size. */
async function prepare(client: MongoClient, times: number): Promise<Query[]> {
  const services = { broadcasts: ofBroadcasts, messaging: ofMessaging };
  const all = { ...services, onboarding: ofOnboarding, webhooks: ofWebhooks };
  const open = (name: keyof typeof all): Db => client.db(`queries-${times}-${name}`);
  for (const [name, indexes] of Object.entries(all)) {
    await createIndexes(open(name as keyof typeof all), indexes);
  }
  const count = ROWS * times;
  return [
    ...(await eventLog(open('webhooks'), count)),
    ...(await deliveries(open('webhooks'), count)),
    ...(await broadcasts(open('broadcasts'), count)),
    ...(await onboarding(open('onboarding'), count)),
    ...(await messages(open('messaging'), count)),
  ];
}

/** Writes this many rows of a collection. */
async function fill(
  db: Db,
  collection: string,
  count: number,
  row: (index: number) => Document,
): Promise<void> {
  for (let from = 0; from < count; from += INSERTED_AT_ONCE) {
    const length = Math.min(INSERTED_AT_ONCE, count - from);
    const rows = Array.from({ length }, (_, index) => row(from + index));
    await db.collection(collection).insertMany(rows, { ordered: false });
  }
}

async function eventLog(db: Db, count: number): Promise<Query[]> {
  const packer = createPacker(undefined, false);
  const store = createEventLogStore(db);
  const bodies = Array.from({ length: EVENTS_IN_BUCKET }, () => Buffer.from(TEXT));
  const packed = await packBodies(packer, { partner_id: PARTNER, first: 1 }, bodies, {});
  const bucket = (partner_id: string, index: number, at = new Date(NOW - KEPT_MS / 2 + index)) => {
    const first = index * EVENTS_IN_BUCKET + 1;
    const event = { event: 'message.status', partition: 0, received_at: at, size: TEXT.length };
    const events = bodies.map((_, place) => {
      const seq = first + place;
      return { ...event, seq, event_id: `evt_${partner_id}_${seq}`, waba_id: WABA };
    });
    return newBucket(partner_id, { first, at, events, packed });
  };
  await fill(db, 'event_log', count, (index) => bucket(PARTNER, index));
  await fill(db, 'event_log', FOUND, (index) => bucket('ptn_2', index));
  const expires_at = new Date(NOW + KEPT_MS);
  await fill(db, 'attempts', count, (index) => {
    const attempts = [{ ...OWNER, event_id: `evt_${PARTNER}_${index}` }];
    return { _id: `att_${index}`, attempts, packed, expires_at };
  });
  const attempts = createAttemptLog({ attempts: createAttempts(db), packer }, KEPT_MS);
  const rows = createDeliveries(db);
  const reader = createReader({ store, packer, attempts, deliveries: rows, kept_ms: KEPT_MS });
  const period = { max_bytes: undefined, from: undefined, to: undefined };
  const page = (after: number) => () =>
    reader.page({ ...period, partner_id: PARTNER, after, limit: 100 }, NO_LIMIT);
  const expire = async (): Promise<void> => {
    const old = new Date(NOW - 2 * KEPT_MS);
    await fill(db, 'event_log', FOUND, (index) => bucket('ptn_3', index, old));
    await store.expire(new Date(NOW - KEPT_MS));
  };
  const scope = { partner_id: 'ptn_2', waba_id: WABA };
  const purge = eventLogPurgeRows(packer).map(({ collection, rewrite }): Query => [
    `purge of a client: ${collection}`,
    () => rewrite(scope, db, true),
  ]);
  return [
    ['GET /events, nothing new', page(count * EVENTS_IN_BUCKET)],
    ['GET /events, 100 from the middle', page((count / 2) * EVENTS_IN_BUCKET)],
    [`event log: expire ${FOUND} buckets`, expire],
    ...purge,
  ];
}

async function deliveries(db: Db, count: number): Promise<Query[]> {
  const rows = createDeliveries(db);
  const at = (index: number): Date => new Date(NOW - DAY_MS + index);
  await fill(db, 'deliveries', count, (index) => ({
    ...OWNER,
    _id: `evt_${index}`,
    partner_id: `ptn_${index % PARTNERS}`,
    conversation: String(index % 1_000),
    partition: index % PARTITIONS.length,
    order: index,
    body: TEXT,
    status: index % 10 === 0 ? 'failed' : 'retrying',
    created_at: at(index),
    next_attempt_at: at(index),
    expires_at: new Date(NOW + DAY_MS),
  }));
  const middle = { _id: `evt_${count / 2}`, next_attempt_at: at(count / 2) };
  const after = { event_id: middle._id, created_at: at(count / 2) };
  const receiver = { partner_id: PARTNER, endpoint_id: undefined };
  const overdue = (from: typeof middle | undefined) => () =>
    rows.overdue(PARTITIONS, new Date(NOW), { after: from, limit: FOUND });
  const failed = () =>
    rows.listOf(PARTNER, ['failed', 'retrying'], { limit: FOUND, bytes: 1_000_000, after });
  return [
    ['deliveries: the first that wait', () => rows.waitingIn(PARTITIONS, FOUND)],
    ['deliveries: the first of a receiver', () => rows.waitingOf(receiver, PARTITIONS, FOUND)],
    ['deliveries: the overdue', overdue(undefined)],
    ['deliveries: the overdue, from the middle', overdue(middle)],
    ['GET /events/failed, from the middle', failed],
    ['deliveries: partners', () => rows.partnersIn(PARTITIONS, PARTNERS)],
    ['deliveries: the oldest', () => rows.oldest()],
    ['deliveries: counts of all', () => rows.counts()],
  ];
}

async function broadcasts(db: Db, count: number): Promise<Query[]> {
  const store = createBroadcastStore(db);
  const created_at = new Date(NOW - DAY_MS);
  const row = (_id: number, status: string, has_contacts: true | undefined): Document => {
    const place = { public_id: `${PARTNER}/${_id}`, template_components: TEXT };
    return { ...OWNER, ...place, _id, status, has_contacts, paused_at: null, created_at };
  };
  await fill(db, 'broadcasts', count, (index) =>
    index % 4 === 0 ? row(index, 'scheduled', true) : row(index, 'completed', undefined),
  );
  await fill(db, 'broadcasts', FOUND, (index) => row(count + index, 'cancelled', true));
  const now = new Date(NOW);
  return [
    ['broadcasts: ended with contacts', () => store.endedWithContacts(100)],
    ['broadcasts: paused for too long', () => store.inStateBefore('paused', 'paused_at', now, 100)],
    ['broadcasts: abandoned drafts', () => store.inStateBefore('draft', 'created_at', now, 100)],
    ['broadcasts: older than the retention', () => store.endedBefore(new Date(0), 100)],
  ];
}

async function onboarding(db: Db, count: number): Promise<Query[]> {
  const { clients, partners, events } = createStores(db);
  const row = (index: number): Document => {
    const at = new Date(NOW - DAY_MS + index);
    const dates = { created_at: at, registered_at: at, last_activity_at: at, deleted_at: null };
    const due = index < FOUND && { events_due: [{ event: 'client.connected', key: 'one', at }] };
    return { ...OWNER, ...dates, ...due, _id: `row_${index}`, status: 'active', text: TEXT };
  };
  await fill(db, 'clients', count, (index) => ({ ...row(index), billing: 'active' }));
  const alerts = { failure_rate: '5' };
  await fill(db, 'partners', count, (index) => ({
    ...row(index),
    key_hash: String(index),
    ...(index < FOUND && { alerts }),
  }));
  await fill(db, 'onboarding_events', count, row);
  const page = { limit: 50, offset: 0 };
  return [
    ['clients: events due', () => clients.withEventsDue(100)],
    ['partners: events due', () => partners.withEventsDue(100)],
    ['partners: watching a cause', () => partners.watching('failure_rate', 100)],
    ['GET /clients with its total', () => clients.list(PARTNER, 'active', page)],
    ['GET /onboarding/events', () => events.list(PARTNER, 50)],
  ];
}

async function messages(db: Db, count: number): Promise<Query[]> {
  const list = createMessageList(db);
  const place = (index: number) => ({
    _id: `msg_${String(index).padStart(9, '0')}`,
    sent_at: new Date(NOW - DAY_MS + index),
  });
  await fill(db, 'messages', count, (index) => ({
    ...OWNER,
    ...place(index),
    message_id: `wamid.${index}`,
    recipient: String(4_915_100_000_000 + index),
    status: index % 5 ? 'read' : 'failed',
  }));
  const scope = { partner_id: PARTNER };
  const later = { ...PAGE, after: place(count / 2) };
  return [
    ['GET /messages', () => list.page(scope, {}, PAGE)],
    ['GET /messages, from the middle', () => list.page(scope, {}, later)],
    ['GET /messages of an account', () => list.page({ ...scope, waba_id: WABA }, {}, PAGE)],
    ['GET /messages?status=failed', () => list.page(scope, { status: 'failed' }, PAGE)],
  ];
}
