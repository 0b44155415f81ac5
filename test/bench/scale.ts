// How the cost of an event and of a send grows: with partners, with a second process of each
// service that reads events, and with a backlog of one number. The floor of partners and processes
// is the bare chain of events, which stores what it delivers by partner.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { createBusOperator } from '@bmg/common/bus';
import { fields, loadConfig } from '@bmg/common/config';
import { freePort, SERVICES, type ServiceName } from '@bmg/local';
import { closedLoop, sendShot, webhook } from './load';
import {
  byCost,
  cpuOf,
  OURS,
  perThousand,
  rateOf,
  REPORT_FROM_S,
  storedText,
  throughput,
  WORKERS,
  type Throughput,
} from './measure';
import { prepareMesh, registerPartners, startBareEvents, type Setup } from './mesh';
import { costDuring, costOf, withBench, type Bench, type Part } from './processes';

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
const FLOOR_DATABASE = 'floor';

export const benchScale = (): Promise<void> =>
  withBench(async (bench) => {
    const [least] = PARTNERS as [number];
    const setup = await prepareMesh(bench, { partners: least, stub: 'silent' });
    const floor = await startBareEvents(setup, FLOOR_DATABASE);
    await throughput(setup, WARM_UP);
    await throughput(floor, WARM_UP);
    await sends(setup, WARM_UP_SENDS_S);
    const [tellEvents, tellFloor, tellSends] = [teller(), teller(), teller()];
    for (const partners of PARTNERS) {
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
async function sends({ gateway, places, pids }: Setup, seconds: number): Promise<Throughput> {
  const shot = sendShot(gateway, places);
  const { result, costs } = await costDuring(pids, () =>
    closedLoop(shot, SENDS_IN_FLIGHT, seconds),
  );
  if (result.failed > 0) throw new Error(`${result.failed} sends failed`);
  return { events: result.count, seconds: result.seconds, costs, stored: {} };
}

/** Returns what prints runs; `first`, or else the first of them, is the measure of the others. */
export const teller =
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
    const part = bench.start(`${name} 2`, `${SERVICES[name].workspace}/dist/main.js`, {
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

const BACKLOG = 5 * EVENTS;
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
    bench.start('webhooks', `${SERVICES.webhooks.workspace}/dist/main.js`);
    await bench.ready('webhooks');
  }
  const answered = await load.closed(
    Array.from({ length: BACKLOG }, () => webhook(places)),
    WORKERS,
  )();
  if (answered.some(({ status }) => status !== 200)) throw new Error('a webhook was refused');
  await bench.parts.get('webhooks')?.stop();
  const names = Array.from({ length: processes }, (_, at) => (at === 0 ? 'fanout' : 'fanout 2'));
  const started = await Promise.all(
    names.map(async (name) => {
      const METRICS_PORT = String(await freePort());
      const entry = `${SERVICES.fanout.workspace}/dist/main.js`;
      const part = bench.start(name, entry, { METRICS_PORT });
      await bench.ready(name);
      return part;
    }),
  );
  const cpu = (): number[] => started.map(({ pid }) => costOf(pid).cpu_s);
  const brokers = bench.engines.KAFKA_BROKERS;
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
    if (left <= part * BACKLOG) return { left, at_ms: performance.now() };
    await sleep(LOOK_EVERY_MS);
  }
}
