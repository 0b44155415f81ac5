// The benchmarks of events measure the event path of the whole mesh, all eight services as `make
// up` starts them, beside bare delivery; how the cost of an event and of a send grows; and what the
// stores' own queries take. This process is the driver, and its share of the machine is printed.
import { createHmac, randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient, type Db, type Document } from 'mongodb';
import { Agent } from 'undici';
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
import { closedLoop, inFlight, quantile, sendShot, spread, webhook } from './load';
import {
  byCost,
  costDuring,
  costOf,
  cpuOf,
  delaysAt,
  delayText,
  DRIVERS,
  entryOf,
  OURS,
  perThousand,
  prepareMesh,
  rateOf,
  registerPartners,
  REPORT_FROM_S,
  SETTLE_MS,
  startBareEvents,
  storedText,
  throughput,
  untilArrived,
  withBench,
  WORKERS,
  type Bench,
  type Part,
  type Setup,
  type Throughput,
} from './mesh';

const SHORT = process.env['BENCH_SHORT'] === '1';
const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 20_000);
/** A process that has just started spends most of its CPU on compilation. */
const WARM_UP = 3 * EVENTS;

const PARTNERS = 10;
/** BENCH_LONG=1 runs the hanging receiver for its full time. */
const LONG = process.env['BENCH_LONG'] === '1';
/** The engines' and Node's compilers have done their work by then. */
const PATH_WARM_UP = 60_000;
const COLD = 10_000;
const YARDSTICK_POSTS = 20_000;
const RATE_S = 10;
const HANG_S = LONG ? 150 : 15;
const CALM_S = LONG ? 60 : 15;
const OVERLOAD_S = 60;
/** Share of the measured capacity. */
const SOAK_SHARE = 0.7;
const SOAK_MINUTES = 15;

/** Three, for their spread; a comparison of two versions repeats the whole benchmark instead. */
const ROUNDS = process.env['BENCH_RESULT'] === undefined ? 3 : 1;

interface Round {
  once: Throughput;
  twice: Throughput;
  tens: Throughput;
}

/**
 * Compares the event path with bare delivery (undici, keep-alive, HMAC, 64 in flight) in one run.
 * Ten partners with 5,000 customers each.
 */
export const benchEvents = (): Promise<void> =>
  withBench(async (bench) => {
    const setup = await prepareMesh(bench, { partners: PARTNERS });
    const capacity = await backlogs(setup);
    if (process.env['BENCH_RESULT'] === undefined) {
      for (const items of [1, 10]) await bareChain(setup, items);
    }
    if (SHORT) return;
    await overload(setup, capacity);
    await atRates(setup);
    for (const rate of [100, 300]) await oneHangs(setup, rate);
    if (LONG) await soak(setup, capacity);
    setup.load.close();
  });

/** Measures backlogs, in rounds; returns the largest one of single events. */
async function backlogs(setup: Setup): Promise<Throughput> {
  const cold = await throughput(setup, COLD);
  await throughput(setup, PATH_WARM_UP);
  const bare = await yardstick(setup.receiver_url);
  console.log(
    `yardstick     ${bare.per_second.toFixed(0).padStart(6)} /s   ${bare.cpu.toFixed(3)} CPU s per 1,000`,
  );
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({
      once: await throughput(setup, EVENTS),
      twice: await throughput(setup, 2 * EVENTS),
      tens: await throughput(setup, 2 * EVENTS, 10),
    });
  }
  const of = (name: keyof Round): Throughput[] => rounds.map((round) => round[name]);
  tellRounds('first events', [cold], bare.per_second);
  tellRounds('whole path', of('once'), bare.per_second);
  tellRounds('twice as many', of('twice'), bare.per_second);
  const longer = rounds.map(({ once, twice }) => twice.seconds / once.seconds);
  console.log(`  twice the backlog takes ${spread(longer, 2)} times as long`);
  tellRounds('10 in a body', of('tens'), bare.per_second);
  const { twice, tens } = rounds.at(-1) as Round;
  tellCosts('one event in a body', twice);
  tellCosts('ten events in a body', tens);
  rounds.forEach(record);
  return twice;
}

/** Runs the libraries without any of our code, beside the mesh, which is idle meanwhile. */
async function bareChain(setup: Setup, items: number): Promise<void> {
  const floor = await startBareEvents(setup);
  await throughput(floor, 2 * EVENTS, items);
  const run = await throughput(floor, 2 * EVENTS, items);
  floor.load.close();
  for (const part of floor.parts) await setup.bench.parts.get(part)?.stop('SIGKILL');
  const costs = Object.keys(run.costs).map(
    (name) => `${name} ${perThousand(run, name).toFixed(3)}`,
  );
  console.log(
    `bare chain, ${items} in a body: ${rateOf(run).toFixed(0)} /s   ${cpuOf(run).toFixed(3)} CPU s per 1,000 (${costs.join(', ')})`,
  );
}

async function yardstick(receiver_url: string): Promise<{ per_second: number; cpu: number }> {
  const agent = new Agent({ connections: WORKERS, pipelining: 1 });
  const body = Buffer.from(
    JSON.stringify({ event: 'message.received', data: { text: 'x'.repeat(600) } }),
  );
  const run = async (count: number): Promise<number> => {
    const started = performance.now();
    await inFlight(WORKERS, count, async () => {
      const mac = createHmac('sha256', 'secret').update(body).digest('hex');
      const headers = {
        'content-type': 'application/json',
        'x-service-signature': `sha256=${mac}`,
      };
      const post = { origin: receiver_url, path: '/bare', method: 'POST', headers, body } as const;
      const answer = await agent.request(post);
      await answer.body.dump();
    });
    return (performance.now() - started) / 1_000;
  };
  await run(YARDSTICK_POSTS / 4);
  const before = process.cpuUsage();
  const seconds = await run(YARDSTICK_POSTS);
  const used = process.cpuUsage(before);
  await agent.close();
  const cpu = (used.user + used.system) / 1e6 / (YARDSTICK_POSTS / 1_000);
  return { per_second: YARDSTICK_POSTS / seconds, cpu };
}

function tellRounds(name: string, runs: Throughput[], bare: number): void {
  const rates = runs.map(rateOf);
  const driving = runs.map(
    ({ costs, seconds }) =>
      ([...DRIVERS].reduce((sum, part) => sum + (costs[part]?.cpu_s ?? 0), 0) /
        seconds /
        cpus().length) *
      100,
  );
  const stored = runs.map(storedText).join('');
  console.log(
    `${name.padEnd(13)} ${spread(rates, 0)} /s   ${spread(runs.map(cpuOf), 3)} CPU s per 1,000   ` +
      `${((quantile(rates, 0.5) / bare) * 100).toFixed(0)} % of the yardstick   driver and receiver: ` +
      `${spread(driving, 0)} % of the machine${stored}`,
  );
}

/** Prints the cost of each part, the largest first. */
function tellCosts(what: string, run: Throughput): void {
  const parts = byCost(run.costs);
  console.log(`\nCPU seconds per 1,000 events (${what}), and memory`);
  for (const [name, { rss_mib }] of parts) {
    const cpu = perThousand(run, name);
    if (cpu < REPORT_FROM_S) continue;
    console.log(`  ${name.padEnd(12)} ${cpu.toFixed(3)} s   ${rss_mib.toFixed(0)} MiB`);
  }
  const largest = parts.find(([name]) => OURS(name));
  console.log(`  the largest part is ${largest?.[0] ?? 'unknown'}`);
}

/** Appends the figures to the file that `make bench-compare` reads. */
function record(runs: Round): void {
  const file = process.env['BENCH_RESULT'];
  if (!file) return;
  const figures = Object.entries(runs).map(([name, run]) => [
    name,
    { per_second: rateOf(run), cpu_s: cpuOf(run) },
  ]);
  appendFileSync(file, `${JSON.stringify(Object.fromEntries(figures))}\n`);
}

/** Offers twice the capacity: every accepted event must arrive, at the same cost per event. */
async function overload(setup: Setup, capacity: Throughput): Promise<void> {
  const { load, places } = setup;
  const started = performance.now();
  let offered_s = 0;
  let refused = 0;
  const run = await untilArrived(setup, async () => {
    const answered = await load.open(() => webhook(places), 2 * rateOf(capacity), OVERLOAD_S);
    refused = answered.filter(({ status }) => status !== 200).length;
    offered_s = (performance.now() - started) / 1_000;
    return answered.length - refused;
  });
  console.log(
    `\ntwice the capacity for ${OVERLOAD_S} s: ${rateOf(run).toFixed(0)} /s at ${cpuOf(run).toFixed(3)} CPU s per 1,000 ` +
      `(${(cpuOf(run) / cpuOf(capacity)).toFixed(2)} times the backlog's), drained ${(run.seconds - offered_s).toFixed(1)} s ` +
      `after the last answer, refused ${refused} of ${refused + run.events}${storedText(run)}`,
  );
}

/** Memory must be flat, and every minute's events must have arrived shortly after it. */
async function soak({ load, receiver, places, pids }: Setup, capacity: Throughput): Promise<void> {
  const rate = SOAK_SHARE * rateOf(capacity);
  console.log(`\nsoak at ${rate.toFixed(0)} /s: MiB of each part, and seconds behind`);
  for (let minute = 1; minute <= SOAK_MINUTES; minute += 1) {
    const before = await receiver.count();
    const { result: behind_s, costs } = await costDuring(pids, async () => {
      const answered = await load.open(() => webhook(places), rate, 60);
      const ended = performance.now();
      await receiver.until(before + answered.filter(({ status }) => status === 200).length);
      return (performance.now() - ended) / 1_000;
    });
    await receiver.report();
    const memory = Object.entries(costs).filter(([name]) => OURS(name));
    console.log(
      `  ${String(minute).padStart(2)}  ${memory.map(([name, { rss_mib }]) => `${name} ${rss_mib.toFixed(0)}`).join('  ')}  behind ${behind_s.toFixed(1)} s`,
    );
  }
}

async function atRates(setup: Setup): Promise<void> {
  const { load, receiver, places } = setup;
  const taken = await load.open(() => webhook(places), 660, RATE_S);
  const waits = taken.map(({ at_ms, due_ms }) => at_ms - due_ms);
  console.log(
    `\ningress at 660/s: p50 ${quantile(waits, 0.5).toFixed(1)} ms, p99 ${quantile(waits, 0.99).toFixed(1)} ms, ` +
      `refused ${taken.filter(({ status }) => status !== 200).length}`,
  );
  await sleep(SETTLE_MS);
  await receiver.report();
  const delayed = await delaysAt(setup, 300, RATE_S);
  console.log(`from the ingress's 200 to the receiver at 300/s: ${delayText(delayed)}`);
}

/** Measures the other partners while the receiver of one of ten hangs. */
async function oneHangs(setup: Setup, rate: number): Promise<void> {
  const { receiver } = setup;
  const others = (seconds: number) => delaysAt(setup, rate, seconds, (place) => place !== 0);
  const calm = await others(CALM_S);
  await receiver.hang('/p0');
  const hung = await others(HANG_S);
  await receiver.heal();
  await sleep(SETTLE_MS);
  const healed = await others(CALM_S / 3);
  console.log(
    `one of ten hangs at ${rate}/s: p99 of the others ${calm.p99.toFixed(1)} ms before, ` +
      `${hung.p99.toFixed(1)} ms during (${(hung.p99 / calm.p99).toFixed(2)} times), ` +
      `${healed.p99.toFixed(1)} ms after; p50 ${calm.p50.toFixed(1)} and ${hung.p50.toFixed(1)} ms; ` +
      `missing ${calm.missing + hung.missing + healed.missing}`,
  );
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
const FLOOR_DATABASE = 'floor';

/**
 * How the cost of an event and of a send grows: with partners, and with a second process of each
 * service that reads events. Their floor is the bare chain of events, which stores what it delivers
 * by partner.
 */
export const benchScale = (): Promise<void> =>
  withBench(async (bench) => {
    const [least] = PARTNER_COUNTS as [number];
    const setup = await prepareMesh(bench, { partners: least, stub: 'silent' });
    const floor = await startBareEvents(setup, FLOOR_DATABASE);
    await throughput(setup, WARM_UP);
    await throughput(floor, WARM_UP);
    await sends(setup, WARM_UP_SENDS_S);
    const [tellEvents, tellFloor, tellSends] = [teller(), teller(), teller()];
    for (const partners of PARTNER_COUNTS) {
      const missing = partners - setup.places.length;
      setup.places.push(...(await registerPartners(bench, setup.receiver_url, missing)));
      // Every partner's credentials, owners and receiver are read once, and its connections opened.
      const warm_up = Math.max(EVENTS, 40 * partners);
      await throughput(setup, warm_up);
      tellEvents(`${partners} partners`, await throughput(setup, EVENTS));
      await throughput(floor, warm_up);
      tellFloor('  their floor', await throughput(floor, EVENTS));
      await sends(setup, SENDS_S);
      tellSends('  their sends', await sends(setup, SENDS_S));
    }
    await fillUsage(bench);
    await sends(setup, SENDS_S);
    tellSends('  a day later', await sends(setup, SENDS_S));
    setup.places.splice(least);
    await processes(setup, () => startSecond(setup));
    console.log('the floor of the same:');
    await processes(floor, async () => {
      const names = await floor.startBeside(['fanout', 'deliver']);
      return names.map((name) => bench.parts.get(name) as Part);
    });
    floor.load.close();
    setup.load.close();
  });

/**
 * The records of usage as partners have them that have called all day: full of the ids of the
 * reports that are counted in them. The service keeps fewer from its next write on.
 */
async function fillUsage({ engines }: Bench): Promise<void> {
  const client = new MongoClient(engines.urls.MONGO_URL);
  try {
    const days = client.db('onboarding').collection('endpoint_usage');
    const applied = Array.from({ length: USAGE_IDS }, () => randomUUID());
    await days.updateMany({}, { $set: { applied } });
  } finally {
    await client.close();
  }
}

/** Sends of all partners in turn. */
async function sends({ gateway, places, pids }: Setup, seconds: number): Promise<Throughput> {
  const shot = sendShot(gateway, places);
  const { result, costs } = await costDuring(pids, () =>
    closedLoop(shot, SENDS_IN_FLIGHT, seconds),
  );
  if (result.failed > 0) throw new Error(`${result.failed} sends failed`);
  return { events: result.count, seconds: result.seconds, costs, stored: {} };
}

/** Returns what prints runs; `first`, or else the first of them, is the measure of the others. */
const teller =
  (first?: Throughput) =>
  (name: string, run: Throughput): void =>
    tell(name, run, (first ??= run));

function tell(name: string, run: Throughput, first: Throughput): void {
  const parts = byCost(run.costs).filter(([part]) => OURS(part));
  const cpu = parts
    .map(([part]) => [part, perThousand(run, part)] as const)
    .filter(([, cpu_s]) => cpu_s >= REPORT_FROM_S)
    .map(([part, cpu_s]) => `${part} ${cpu_s.toFixed(3)}`);
  const memory = parts
    .filter(([part]) => part !== 'mongo' && part !== 'kafka')
    .map(([part, { rss_mib }]) => `${part} ${rss_mib.toFixed(0)}`);
  console.log(
    `${name.padEnd(19)} ${rateOf(run).toFixed(0).padStart(5)} /s   ${cpuOf(run).toFixed(3)} CPU s per 1,000, ` +
      `${(cpuOf(run) / cpuOf(first)).toFixed(2)} times the first${storedText(run)}\n` +
      `  CPU: ${cpu.join('  ')}\n` +
      `  MiB: ${memory.join('  ')}`,
  );
}

/** One process of each service, a second one beside it, and the first one by itself again. */
async function processes(setup: Setup, startOthers: () => Promise<Part[]>): Promise<void> {
  const tellRun = teller();
  tellRun('one process each', await throughput(setup, EVENTS));
  const second = await startOthers();
  for (let time = 0; time < WARM_UPS_OF_SECOND; time += 1) await throughput(setup, WARM_UP);
  tellRun('two processes each', await throughput(setup, EVENTS));
  for (const part of second) {
    delete setup.pids[part.name];
    await part.stop();
  }
  await throughput(setup, EVENTS);
  tellRun('one process again', await throughput(setup, EVENTS));
}

/** Starts another process of each, and waits until Kafka has shared the partitions out. */
async function startSecond({ bench, pids }: Setup): Promise<Part[]> {
  const started: Part[] = [];
  for (const name of DOUBLED) {
    const part = bench.start(`${name} 2`, entryOf(name), {
      GRPC_PORT: String(await freePort()),
      INGRESS_PORT: String(await freePort()),
      METRICS_PORT: String(await freePort()),
    });
    pids[part.name] = part.pid;
    started.push(part);
    await bench.ready(part.name);
  }
  return started;
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
  withBench(async (bench) => {
    const setup = await prepareMesh(bench, { partners: 1 });
    await throughput(setup, EVENTS);
    for (const name of BEHIND) await bench.parts.get(name)?.stop();
    let first: number | undefined;
    for (const processes of [1, 2, 1, 2]) {
      const { rate, shares } = await handled(setup, processes);
      first ??= rate;
      console.log(
        `${processes} of fan-out  ${rate.toFixed(0)} /s, ${(rate / first).toFixed(2)} times the first; ` +
          `cores of each: ${shares.map((one) => one.toFixed(2)).join(', ')}`,
      );
    }
    setup.load.close();
  });

/** Returns how many webhooks a second these processes handle, and what each takes of a core. */
async function handled(
  { bench, load, places }: Setup,
  processes: number,
): Promise<{ rate: number; shares: number[] }> {
  await bench.parts.get('fanout')?.stop();
  if (!bench.parts.has('webhooks')) {
    bench.start('webhooks', entryOf('webhooks'));
    await bench.ready('webhooks');
  }
  const answered = await load.closed(
    Array.from({ length: HOT_BACKLOG }, () => webhook(places)),
    WORKERS,
  )();
  if (answered.some(({ status }) => status !== 200)) throw new Error('a webhook was refused');
  await bench.parts.get('webhooks')?.stop();
  const names = Array.from({ length: processes }, (_, at) => (at === 0 ? 'fanout' : 'fanout 2'));
  const started = await Promise.all(
    names.map(async (name) => {
      const METRICS_PORT = String(await freePort());
      const part = bench.start(name, entryOf('fanout'), { METRICS_PORT });
      await bench.ready(name);
      return part;
    }),
  );
  const cpu = (): number[] => started.map(({ pid }) => costOf(pid).cpu_s);
  const brokers = bench.engines.urls.KAFKA_BROKERS;
  const from = { ...(await leftAt(brokers, MEASURED.from)), cpu: cpu() };
  const to = { ...(await leftAt(brokers, MEASURED.to)), cpu: cpu() };
  const seconds = (to.at_ms - from.at_ms) / 1_000;
  await leftAt(brokers, 0);
  for (const part of started) await part.stop();
  return {
    rate: (from.left - to.left) / seconds,
    shares: to.cpu.map((used, at) => (used - (from.cpu[at] as number)) / seconds),
  };
}

/** Waits until at most this part of the backlog is left. */
async function leftAt(brokers: string, part: number): Promise<{ left: number; at_ms: number }> {
  const { config } = loadConfig(fields.kafka, { KAFKA_BROKERS: brokers });
  const kafka = createBusOperator(config);
  for (;;) {
    const lags = await kafka.lags();
    const left = lags
      .filter(({ group }) => group === GROUP)
      .reduce((sum, { messages }) => sum + messages, 0);
    if (left <= part * HOT_BACKLOG) return { left, at_ms: performance.now() };
    await sleep(LOOK_EVERY_MS);
  }
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

const NUMBERS_AT_FIRST = 10;
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
      const client = new MongoClient(bench.engines.urls.MONGO_URL, { ignoreUndefined: true });
      try {
        await benchQueries(client);
        if (!SHORT) {
          await benchRows(client, await prepareMesh(bench, { partners: NUMBERS_AT_FIRST }));
        }
      } finally {
        await client.close();
      }
    },
    { MONGO_HEAP },
  );

async function benchRows(client: MongoClient, setup: Setup): Promise<void> {
  await throughput(setup, WARM_UP);
  const tellRun = teller(await throughput(setup, EVENTS));
  const measure = async (name: string): Promise<void> => {
    await throughput(setup, EVENTS);
    tellRun(name, await throughput(setup, EVENTS));
    await setup.receiver.report();
    const delayed = await delaysAt(setup, STORED_RATE, STORED_RATE_S);
    console.log(`  from the 200 to the receiver at ${STORED_RATE} /s: ${delayText(delayed)}`);
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
