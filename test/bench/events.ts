// The benchmarks of events measure the event path of the whole mesh, all services as `make up`
// starts them, beside the bare chain; how the cost of an event and of a send grows; and what the
// stores' own queries take.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db, Document, MongoClient } from 'mongodb';
import { createBusOperator } from '@bmg/common/bus';
import { fields, loadConfig } from '@bmg/common/config';
import { createIndexes } from '@bmg/common/mongo';
import { indexes as ofBroadcasts } from '@bmg/broadcasts/collections';
import { createBroadcastStore } from '@bmg/broadcasts/records/broadcasts';
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
import { freePort, type ServiceName } from '@bmg/local';
import {
  atRate,
  forSeconds,
  inFlight,
  measure,
  now,
  quantile,
  rateOf,
  tell,
  WORKERS,
  type Done,
  type Run,
} from './load';
import {
  EVENTS as EVENT_PARTS,
  registerPartners,
  SHORT,
  startFloor,
  startMesh,
  withBench,
  withMesh,
  type Mesh,
  type Path,
} from './mesh';

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 20_000);
/** The engines' and Node's compilers have done their work by then. */
const WARM_UP = 3 * EVENTS;
const COLD = 10_000;
export const PARTNERS = 10;
/** BENCH_LONG=1 lets a receiver hang for longer, and ends with a soak. */
const LONG = process.env['BENCH_LONG'] === '1';
const RATE_S = 10;
const HANG_S = LONG ? 150 : 15;
const CALM_S = LONG ? 60 : 15;
const HEAL_MS = 1_500;
const OVERLOAD_S = 60;
/** Share of the measured capacity. */
const SOAK_SHARE = 0.7;
const SOAK_MINUTES = 15;
/** For their spread. */
const ROUNDS = 3;

const backlog = (path: Path, events: number, items?: number): Promise<Run> =>
  measure(path, () => path.backlog(events, items));

/** Measures backlogs of a warm mesh in rounds, by name. */
export async function measureBacklogs(mesh: Mesh, rounds: number): Promise<Record<string, Run[]>> {
  tell('first events', [await backlog(mesh, COLD)]);
  await mesh.backlog(WARM_UP);
  const [once, twice, tens]: [Run[], Run[], Run[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    once.push(await backlog(mesh, EVENTS));
    twice.push(await backlog(mesh, 2 * EVENTS));
    tens.push(await backlog(mesh, 2 * EVENTS, 10));
  }
  return { 'whole path': once, 'twice as many': twice, '10 in a body': tens };
}

/** The event path, beside the bare chain. Ten partners with 5,000 customers each. */
export const benchEvents = (): Promise<void> =>
  withMesh(PARTNERS, async (mesh) => {
    const backlogs = await measureBacklogs(mesh, ROUNDS);
    for (const [name, runs] of Object.entries(backlogs)) tell(name, runs, backlogs['whole path']);
    const floor = await startFloor(mesh, 'bare', EVENT_PARTS);
    for (const items of [1, 10]) {
      await floor.backlog(2 * EVENTS, items);
      tell(`bare chain, ${items} in a body`, [await backlog(floor, 2 * EVENTS, items)]);
    }
    await floor.stop();
    if (SHORT) return;
    const capacity = backlogs['twice as many']?.at(-1) as Run;
    await overload(mesh, capacity);
    for (const rate of [660, 300]) {
      tell(`${rate} /s`, [await measure(mesh, () => atRate(mesh.event(), rate, RATE_S))]);
    }
    for (const rate of [100, 300]) await oneHangs(mesh, rate);
    if (LONG) await soak(mesh, SOAK_SHARE * rateOf(capacity));
  });

/** Offers twice the capacity: every accepted event must arrive, at the same cost per event. */
async function overload(mesh: Mesh, capacity: Run): Promise<void> {
  let answered_ms = 0;
  const offer = async (): Promise<Done> => {
    const done = await atRate(mesh.accepted, 2 * rateOf(capacity), OVERLOAD_S);
    answered_ms = now();
    return done;
  };
  const run = await measure(mesh, async () => {
    const done = await mesh.receiver.whole(offer);
    return { ...done, times: { drained: [now() - answered_ms] } };
  });
  tell(`twice the capacity for ${OVERLOAD_S} s`, [run], [capacity]);
}

/** Memory must be flat, and every minute's events must have arrived shortly after it. */
async function soak(mesh: Mesh, rate: number): Promise<void> {
  for (let minute = 1; minute <= SOAK_MINUTES; minute += 1) {
    const run = await measure(mesh, () => atRate(mesh.event(), rate, 60));
    tell(`soak, minute ${minute}, ${(run.seconds - 60).toFixed(1)} s behind`, [run]);
  }
}

/** Measures the other partners while the receiver of one of ten hangs. */
async function oneHangs(mesh: Mesh, rate: number): Promise<void> {
  const { receiver } = mesh;
  const others = (seconds: number): Promise<Run> =>
    measure(mesh, () =>
      atRate(
        mesh.event((place) => place !== 0),
        rate,
        seconds,
      ),
    );
  const calm = await others(CALM_S);
  tell(`before one of ten hangs, ${rate} /s`, [calm]);
  receiver.hang('/p0');
  tell('  while it hangs', [await others(HANG_S)], [calm]);
  receiver.heal();
  await sleep(HEAL_MS);
  tell('  after it', [await others(CALM_S / 3)], [calm]);
}

const PARTNER_COUNTS = [10, 100, 1_000];
/** The services that consume the results of an inbound message. */
const DOUBLED: readonly ServiceName[] = ['fanout', 'webhooks', 'messaging', 'onboarding'];
/** The first processes do part of the work meanwhile. */
const WARM_UPS_OF_SECOND = 2;
const SENDS_IN_FLIGHT = 32;
const SENDS_S = 10;
const WARM_UP_SENDS_S = 30;
const USAGE_IDS = 1_000;

/**
 * How the cost of an event and of a send grows: with partners, and with a second process of each
 * service that reads events. Their floor is the bare chain of events, which stores what it delivers
 * by partner.
 */
export const benchScale = (): Promise<void> =>
  withMesh(PARTNERS, async (mesh) => {
    const { bench, places, receiver } = mesh;
    const floor = await startFloor(mesh, 'storing', EVENT_PARTS);
    await mesh.backlog(WARM_UP);
    await floor.backlog(WARM_UP);
    const sends = (seconds: number) => inFlight(mesh.send, SENDS_IN_FLIGHT, forSeconds(seconds));
    const warmSends = async (): Promise<Run> => {
      await sends(SENDS_S);
      return measure(mesh, () => sends(SENDS_S));
    };
    await sends(WARM_UP_SENDS_S);
    const [ofEvents, ofFloor, ofSends] = [teller(), teller(), teller()];
    for (const partners of PARTNER_COUNTS) {
      places.push(...(await registerPartners(bench, receiver.url, partners - places.length)));
      // Every partner's credentials, owners and receiver are read once, and its connections opened.
      const warm_up = Math.max(EVENTS, 40 * partners);
      await mesh.backlog(warm_up);
      ofEvents(`${partners} partners`, await backlog(mesh, EVENTS));
      await floor.backlog(warm_up);
      ofFloor('their floor', await backlog(floor, EVENTS));
      ofSends('their sends', await warmSends());
    }
    // The records of usage as partners have them that have called all day: full of the ids of the
    // reports that are counted in them. The service keeps fewer from its next write on.
    const days = bench.mongo.db('onboarding').collection('endpoint_usage');
    const applied = Array.from({ length: USAGE_IDS }, () => randomUUID());
    await days.updateMany({}, { $set: { applied } });
    ofSends('their sends, a day later', await warmSends());
    places.splice(PARTNERS);
    await processes(mesh, () => startSecond(mesh));
    await processes(floor, floor.startSecond);
  });

/** Returns what prints runs beside the first of them. */
const teller = (): ((name: string, run: Run) => void) => {
  let first: Run | undefined;
  return (name, run) => tell(name, [run], [(first ??= run)]);
};

/** One process of each part, a second one beside it, and the first one by itself again. */
async function processes(path: Path, startOthers: () => Promise<string[]>): Promise<void> {
  const tellRun = teller();
  tellRun('one process each', await backlog(path, EVENTS));
  const second = await startOthers();
  for (let time = 0; time < WARM_UPS_OF_SECOND; time += 1) await path.backlog(WARM_UP);
  tellRun('two processes each', await backlog(path, EVENTS));
  await path.bench.stop(second);
  await path.backlog(EVENTS);
  tellRun('one process again', await backlog(path, EVENTS));
}

/** Starts another process of each, and waits until Kafka has shared the partitions out. */
async function startSecond({ bench }: Mesh): Promise<string[]> {
  for (const name of DOUBLED) {
    await bench.startService(name, `${name} 2`, {
      GRPC_PORT: String(await freePort()),
      INGRESS_PORT: String(await freePort()),
      METRICS_PORT: String(await freePort()),
    });
  }
  return DOUBLED.map((name) => `${name} 2`);
}

const HOT_BACKLOG = 5 * EVENTS;
const BEHIND: readonly ServiceName[] = ['messaging', 'templates', 'broadcasts', 'number-admin'];
const GROUP = 'fanout-webhook';
const LOOK_EVERY_MS = 100;
/** What is left of the backlog at the begin and the end of the measurement, of warm processes. */
const MEASURED = { from: 0.6, to: 0.1 };

/**
 * One process of fan-out handles a backlog of webhooks of one number, then two. Meanwhile the
 * services behind fan-out are stopped, so that the machine's cores are free for it.
 */
export const benchHot = (): Promise<void> =>
  withMesh(1, async (mesh) => {
    await mesh.backlog(EVENTS);
    await mesh.bench.stop([...BEHIND, 'fanout']);
    const tellRun = teller();
    const [one, two] = [['fanout'], ['fanout', 'fanout 2']];
    for (const names of [one, two, one, two]) {
      tellRun(`${names.length} of fan-out`, await handled(mesh, names));
    }
  });

/** Measures these processes while they handle a backlog. */
async function handled({ bench, accepted }: Mesh, names: string[]): Promise<Run> {
  if (!bench.parts.has('webhooks')) await bench.startService('webhooks');
  let left = HOT_BACKLOG;
  const { failed } = await inFlight(accepted, WORKERS, () => left-- > 0);
  if (failed > 0) throw new Error(`${failed} webhooks were refused`);
  await bench.stop(['webhooks']);
  await Promise.all(
    names.map(async (name) =>
      bench.startService('fanout', name, { METRICS_PORT: String(await freePort()) }),
    ),
  );
  const { config } = loadConfig(fields.kafka, { KAFKA_BROKERS: bench.engines.urls.KAFKA_BROKERS });
  const kafka = createBusOperator(config);
  /** Waits until at most this part of the backlog is left. */
  const leftAt = async (part: number): Promise<number> => {
    for (;;) {
      const lags = (await kafka.lags()).filter(({ group }) => group === GROUP);
      const lag = lags.reduce((sum, { messages }) => sum + messages, 0);
      if (lag <= part * HOT_BACKLOG) return lag;
      await sleep(LOOK_EVERY_MS);
    }
  };
  const from = await leftAt(MEASURED.from);
  const counts = (part: string): boolean => names.includes(part);
  const run = await measure({ bench, counts }, async () => {
    const count = from - (await leftAt(MEASURED.to));
    return { count, failed: 0, times: {} };
  });
  await leftAt(0);
  await bench.stop(names);
  return run;
}

const TIMES = [1, 10, 100];
/** Rows of each collection in the smallest database. */
const ROWS = 500;
const QUERY_ROUNDS = 9;
const INSERTED_AT_ONCE = 2_000;
const PARTITIONS = Array.from({ length: 20 }, (_, index) => index);
const RECEIVERS = 5;
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

const NUMBERS = 100_000;
const CUSTOMERS = 1_000_000;
const STORED_RATE = 300;
const STORED_RATE_S = 20;
/** The stand-in for MongoDB keeps recently used data in its heap. */
const MONGO_HEAP = '4g';

type Query = [name: string, run: () => Promise<unknown>];

/**
 * What the stores' own queries take with 1, 10 and 100 times the rows: each size has databases of
 * its own on one server, and the sizes take turns, so that the load of the machine is the same.
 * Then copies of stored rows make numbers that are registered and customers that are known.
 */
export const benchStored = (): Promise<void> =>
  withBench(
    async (bench) => {
      await benchQueries(bench.mongo);
      if (SHORT) return;
      const mesh = await startMesh(bench, PARTNERS);
      await benchRows(bench.mongo, mesh).finally(mesh.receiver.close);
    },
    { engine_env: { MONGO_HEAP } },
  );

async function benchRows(client: MongoClient, mesh: Mesh): Promise<void> {
  await mesh.backlog(WARM_UP);
  const tellRun = teller();
  const measureRows = async (name: string): Promise<void> => {
    await mesh.backlog(EVENTS);
    tellRun(name, await backlog(mesh, EVENTS));
    const rated = await measure(mesh, () => atRate(mesh.event(), STORED_RATE, STORED_RATE_S));
    tell(`${name}, ${STORED_RATE} /s`, [rated]);
  };
  await measureRows('few numbers');
  await addNumbers(client, mesh);
  await measureRows(`${NUMBERS} numbers`);
  await addCustomers(client, mesh);
  await measureRows(`${CUSTOMERS} customers`);
}

type Row = Document & { _id: string };

async function addNumbers(client: MongoClient, { places }: Mesh): Promise<void> {
  const db = client.db('onboarding');
  const rows = await db.collection<Row>('clients').find({}).limit(places.length).toArray();
  await fill(db, 'clients', NUMBERS, (index) => {
    const row = rows[index % rows.length] as Row;
    const waba_id = String(910_000_000_000_000 + index);
    const phone_number_id = String(810_000_000_000_000 + index);
    return { ...row, _id: `${row._id}-${index}`, waba_id, phone_number_id };
  });
}

async function addCustomers(client: MongoClient, { places }: Mesh): Promise<void> {
  const db = client.db('messaging');
  const [{ waba_id }] = places as [Mesh['places'][number]];
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
    for (let round = 0; round <= QUERY_ROUNDS; round += 1) {
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
    partner_id: `ptn_${index % RECEIVERS}`,
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
    ['deliveries: partners', () => rows.partnersIn(PARTITIONS, RECEIVERS)],
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
