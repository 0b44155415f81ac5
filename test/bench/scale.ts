// How the cost of an event and of a send grows: with partners, with a second process of each
// service that reads events, and with registered numbers and known customers. The floor of partners
// and processes is the bare chain of events, which stores what it delivers by partner.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient, type Document } from 'mongodb';
import { freePort, SERVICES, type ServiceName } from '@bmg/local';
import { startBeside, startFloor } from './bare-chain';
import { aText } from './chain';
import { webhook } from './events-load';
import {
  byCost,
  cpuOf,
  delays,
  HOST,
  OURS,
  perThousand,
  prepareMesh,
  rateOf,
  registerPartners,
  REPORT_FROM_S,
  SETTLE_MS,
  startStub,
  stubSettings,
  storedText,
  throughput,
  type Setup,
  type Throughput,
} from './events-mesh';
import { closedLoop } from './load';
import { costDuring, openBench, type Bench, type Part } from './processes';
import { benchQueries, fill } from './stored-queries';

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 20_000);
const PARTNERS = [10, 100, 1_000];
/** The services that consume the results of an inbound message. */
const DOUBLED: readonly ServiceName[] = ['fanout', 'webhooks', 'messaging', 'onboarding'];
/** A process that has just started spends most of its CPU on compilation. */
const WARM_UP = 3 * EVENTS;
/** The first processes do part of the work meanwhile. */
const WARM_UPS_OF_SECOND = 2;
const SENDS_IN_FLIGHT = 32;
const SENDS_S = 10;
const WARM_UP_SENDS_S = 30;
const USAGE_IDS = 1_000;
const NUMBERS = 100_000;
const CUSTOMERS = 1_000_000;
const RATE = 300;
const RATE_S = 20;
const STORED = { database: 'floor' };
/** The stand-in for MongoDB keeps recently used data in its heap. */
const MONGO_HEAP = '4g';

export async function benchScale(): Promise<void> {
  const bench = await openBench();
  try {
    const setup = await prepareMesh(bench, PARTNERS[0] as number, stubSettings(bench));
    startStub(setup);
    const floor = await startFloor(setup, STORED);
    await throughput(setup, WARM_UP);
    await throughput(floor, WARM_UP);
    await sends(setup, WARM_UP_SENDS_S);
    let first: Throughput | undefined;
    let first_floor: Throughput | undefined;
    let first_sends: Throughput | undefined;
    for (const partners of PARTNERS) {
      const missing = partners - setup.places.length;
      setup.places.push(...(await registerPartners(bench, setup.receiver_url, missing)));
      // Every partner's credentials, owners and receiver are read once, and its connections opened.
      await throughput(setup, Math.max(EVENTS, 40 * partners));
      const run = await throughput(setup, EVENTS);
      first ??= run;
      tell(`${partners} partners`, run, first);
      await throughput(floor, Math.max(EVENTS, 40 * partners));
      const bare = await throughput(floor, EVENTS);
      first_floor ??= bare;
      tell('  their floor', bare, first_floor);
      await sends(setup, SENDS_S);
      const sent = await sends(setup, SENDS_S);
      first_sends ??= sent;
      tell('  their sends', sent, first_sends);
    }
    await fillUsage(bench);
    await sends(setup, SENDS_S);
    tell('  a day later', await sends(setup, SENDS_S), first_sends as Throughput);
    setup.places.splice(PARTNERS[0] as number);
    await processes(setup, () => startSecond(setup));
    console.log('the floor of the same:');
    await processes(floor, async () => {
      const names = await startBeside(floor, { ...STORED, second: ['fanout', 'deliver'] });
      return names.map((name) => bench.parts.get(name) as Part);
    });
    floor.load.close();
    setup.load.close();
  } finally {
    await bench.stop();
  }
}

/**
 * The records of usage as partners have them that have called all day: full of the ids of the
 * reports that are counted in them. The service keeps fewer from its next write on.
 */
async function fillUsage({ engines }: Bench): Promise<void> {
  const client = new MongoClient(engines.MONGO_URL);
  try {
    const days = client.db('onboarding').collection('endpoint_usage');
    const applied = Array.from({ length: USAGE_IDS }, () => randomUUID());
    await days.updateMany({}, { $set: { applied } });
  } finally {
    await client.close();
  }
}

/** Sends of all partners in turn. */
async function sends({ bench, places, pids }: Setup, seconds: number): Promise<Throughput> {
  const shot = {
    origin: `http://${HOST}:${bench.port('gateway')}`,
    path: '/v1/messages/send',
    headers: (index: number) => {
      const { partner_key, waba_id } = places[index % places.length] as Setup['places'][number];
      return { 'x-partner-key': partner_key, 'x-waba-id': waba_id };
    },
    body: aText,
  };
  const { result, costs } = await costDuring(pids, () =>
    closedLoop(shot, SENDS_IN_FLIGHT, seconds),
  );
  if (result.failed > 0) throw new Error(`${result.failed} sends failed`);
  return { events: result.count, seconds: result.seconds, costs, stored: {} };
}

function tell(name: string, run: Throughput, first: Throughput): void {
  const parts = byCost(run).filter(([part]) => OURS(part));
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
  const one = await throughput(setup, EVENTS);
  tell('one process each', one, one);
  const second = await startOthers();
  for (let time = 0; time < WARM_UPS_OF_SECOND; time += 1) await throughput(setup, WARM_UP);
  tell('two processes each', await throughput(setup, EVENTS), one);
  for (const part of second) {
    delete setup.pids[part.name];
    await part.stop();
  }
  await throughput(setup, EVENTS);
  tell('one process again', await throughput(setup, EVENTS), one);
}

/**
 * The queries of the stores by themselves; then copies of stored rows make numbers that are
 * registered and customers that are known.
 */
export async function benchStored(): Promise<void> {
  const bench = await openBench({ MONGO_HEAP });
  const client = new MongoClient(bench.engines.MONGO_URL, { ignoreUndefined: true });
  try {
    await benchQueries(client);
    if (process.env['BENCH_SHORT'] === '1') return;
    const setup = await prepareMesh(bench, PARTNERS[0] as number);
    await throughput(setup, WARM_UP);
    const first = await throughput(setup, EVENTS);
    const measure = async (name: string): Promise<void> => {
      await throughput(setup, EVENTS);
      tell(name, await throughput(setup, EVENTS), first);
      await latency(setup);
    };
    await measure('few numbers');
    await addNumbers(client, setup);
    await measure(`${NUMBERS} numbers`);
    await addCustomers(client, setup);
    await measure(`${CUSTOMERS} customers`);
    setup.load.close();
  } finally {
    await client.close();
    await bench.stop();
  }
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

async function latency({ load, receiver, places }: Setup): Promise<void> {
  await receiver.report();
  const answered = await load.open(() => webhook(places), RATE, RATE_S);
  await sleep(SETTLE_MS);
  const { p50, p99, missing } = delays(answered, await receiver.report());
  console.log(
    `  from the 200 to the receiver at ${RATE} /s: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, missing ${missing}`,
  );
}

/** Starts another process of each, and waits until Kafka has shared the partitions out. */
async function startSecond({ bench, pids }: Setup): Promise<Part[]> {
  const started: Part[] = [];
  for (const name of DOUBLED) {
    const second = `${name} 2`;
    const metrics_port = await freePort();
    const part = bench.start(second, `${SERVICES[name].workspace}/dist/main.js`, {
      GRPC_PORT: String(await freePort()),
      INGRESS_PORT: String(await freePort()),
      METRICS_PORT: String(metrics_port),
    });
    pids[second] = part.pid;
    started.push(part);
    await bench.readyAt(second, metrics_port);
  }
  return started;
}
