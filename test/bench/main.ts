// make bench: measures the mesh and its yardstick in the same run, and writes RESULTS.md.
// `node main.js send` runs one benchmark. Those of sends and of lives are here.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient, type Collection } from 'mongodb';
import { freePort } from '@bmg/local';
import { requestBytes } from '../testkit/request-bytes';
import { benchEvents, benchHot, benchScale, benchStored } from './events';
import {
  atRate,
  aText,
  closedLoop,
  createWireClient,
  inFlightFor,
  keyOf,
  now,
  openLoop,
  quantile,
  respond,
  sendShot,
  SILENT,
  spread,
  startWireServer,
  summary,
  webhook,
  wireWebhook,
  type Load,
  type Measured,
  type Place,
  type Shot,
} from './load';
import {
  byCost,
  costDuring,
  DRIVERS,
  measureIdle,
  OURS,
  prepareMesh,
  printIdle,
  ROOT,
  SETTLE_MS,
  shares,
  startBareEvents,
  startBareSends,
  tailsDuring,
  withBench,
  withoutIdle,
  WORKERS,
  type Bench,
  type Cost,
  type Idle,
  type Setup,
  type Tails,
} from './mesh';

const SHORT = process.env['BENCH_SHORT'] === '1';
const PARTNERS = 10;
const IDLE_S = SHORT ? 5 : 30;
const REPORT_FROM_S = 0.005;

const LIFE = {
  warm_up_s: SHORT ? 5 : 60,
  measure_s: SHORT ? 5 : 15,
  rounds: SHORT ? 1 : 3,
  in_flight: [20, 64],
  rates: [50, 150],
  quiet_ms: SHORT ? 2_000 : 20_000,
};

/**
 * The whole life of a message, as a partner experiences it: a send, the webhooks of its three
 * statuses, their events at the receiver, and the records of all. All eight services as `make up`
 * starts them, ten partners.
 */
const benchLife = (): Promise<void> =>
  withBench(async (bench) => {
    const load = await prepareLives(bench, PARTNERS);
    await sleep(SETTLE_MS);
    tellLives('first lives, 20 in flight', [
      await load.closed(LIFE.in_flight[0] as number, LIFE.measure_s),
    ]);
    await load.closed(LIFE.in_flight[1] as number, LIFE.warm_up_s);
    const loads = loadsOf(load).map((one) => ({ ...one, runs: [] as Lives[] }));
    for (let round = 0; round < LIFE.rounds; round += 1) {
      for (const { work, runs } of loads) runs.push(await work());
    }
    for (const { name, runs } of loads) tellLives(name, runs);
    for (const { name, runs } of loads) printParts(name, runs.at(-1) as Lives);
    await sleep(LIFE.quiet_ms);
    const idle = await measureIdle(load.pids, IDLE_S);
    printIdle(idle);
    await benchFloor(load, idle);
    await load.close();
  });

const loadsOf = (load: LoadOfLives) => [
  ...LIFE.in_flight.map((count) => ({
    name: `${count} in flight`,
    work: () => load.closed(count, LIFE.measure_s),
  })),
  ...LIFE.rates.map((rate) => ({
    name: `${rate} /s`,
    work: () => load.open(rate, LIFE.measure_s),
  })),
];

/**
 * Sends the loads through the bare chains, without the idle part of the mesh that runs beside them.
 */
async function benchFloor(load: LifeLoad, idle: Idle): Promise<void> {
  const floor = await load.startFloor();
  await floor.closed(LIFE.in_flight[1] as number, LIFE.warm_up_s / 2);
  console.log('\nThe floor: the bare chains of a send and of three events, which store nothing');
  for (const { name, work } of loadsOf(floor)) {
    const runs: Lives[] = [];
    for (let round = 0; round < LIFE.rounds; round += 1) {
      const started = performance.now();
      const run = await work();
      const seconds = (performance.now() - started) / 1_000;
      const costs = Object.entries(run.costs)
        .filter(([part]) => part === 'kafka' || floor.parts.includes(part))
        .map(([part, cost]) => [part, withoutIdle(idle, part, cost, seconds)]);
      runs.push({ ...run, costs: Object.fromEntries(costs) });
    }
    tellLives(name, runs);
  }
}

const perLife = (
  { lives, costs }: Lives,
  part: string,
  take: 'cpu_s' | 'wakes' | 'queued_s',
): number => (costs[part]?.[take] ?? 0) / Math.max(1, lives.count);

const ofMesh = (run: Lives, take: 'cpu_s' | 'wakes'): number =>
  Object.keys(run.costs)
    .filter(OURS)
    .reduce((sum, part) => sum + perLife(run, part, take), 0);

function tellLives(name: string, runs: Lives[]): void {
  const of = (take: (run: Lives) => number, digits: number): string =>
    spread(runs.map(take), digits);
  const missing = runs.reduce((sum, { sends, lives }) => sum + sends.failed + lives.failed, 0);
  const unread = runs.reduce((sum, run) => sum + run.unread, 0);
  console.log(
    `${name.padEnd(26)} ${of(({ lives }) => lives.per_second, 0)} /s   ` +
      `${of((run) => ofMesh(run, 'cpu_s') * 1_000, 2)} CPU s per 1,000   ` +
      `${of((run) => ofMesh(run, 'wakes'), 0)} wake-ups each   missing ${missing}, unread ${unread}\n` +
      `  life p50 ${of(({ lives }) => lives.p50_ms, 1)} ms, p99 ${of(({ lives }) => lives.p99_ms, 1)} ms   ` +
      `send p50 ${of(({ sends }) => sends.p50_ms, 1)} ms, p99 ${of(({ sends }) => sends.p99_ms, 1)} ms`,
  );
}

function printParts(name: string, run: Lives): void {
  console.log(`\n${name}: the slowest hundredth of the sends waited for ${shares(run.tails.send)}`);
  console.log(`${' '.repeat(name.length)}  and of the events for ${shares(run.tails.event)}`);
  console.log('CPU seconds per 1,000 lives, of them collections, and for a core; wake-ups; memory');
  for (const [part, { rss_mib }] of byCost(run.costs)) {
    const cpu_s = perLife(run, part, 'cpu_s') * 1_000;
    if (cpu_s < REPORT_FROM_S) continue;
    const wakes = perLife(run, part, 'wakes');
    const queued_s = perLife(run, part, 'queued_s') * 1_000;
    const collections = (run.tails.collections[part] ?? 0) / Math.max(1, run.lives.count);
    console.log(
      `  ${part.padEnd(12)} ${cpu_s.toFixed(3)} s ${(collections * 1_000).toFixed(3)} ${queued_s.toFixed(3)}   ${wakes.toFixed(1).padStart(6)}   ${rss_mib.toFixed(0)} MiB`,
    );
  }
}

const STATUSES = 3;
const EVENT = /"event":"(message\.\w+)"/;
const MESSAGE_ID = /"message_id":"([^"]+)"/;
const OK = 200;
const PAGE = 500;
const ARRIVAL_LIMIT_MS = 60_000;
const RECORDS_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 100;

/** Figures of the lives that began in a period. */
export interface Lives {
  /** The answers to the sends. */
  sends: Measured;
  /** From when a send was due to the arrival of its last event. */
  lives: Measured;
  /** Messages whose record is not `read` in the end. */
  unread: number;
  costs: Record<string, Cost>;
  tails: Tails;
}

type LoadOfLives = ReturnType<typeof loadWith>;
export type LifeLoad = Awaited<ReturnType<typeof prepareLives>>;

interface Times {
  sends: number[];
  lives: number[];
  failed: number;
  begun: number;
  /** Messages with a record. */
  ids: Set<string>;
}

type Live = (run: Times, due_ms: number) => Promise<void>;

const aSilentText = (index: number): string =>
  JSON.stringify({ ...JSON.parse(aText(index)), text: SILENT });

export async function prepareLives(bench: Bench, partners: number) {
  const own_port = await freePort();
  const arrivals = startReceiver(own_port);
  const setup = await prepareMesh(bench, { partners, stub: 'statuses', own_port });
  const gateway = new URL(setup.gateway);
  const client = createWireClient(gateway.origin);
  const mongo = await MongoClient.connect(bench.engines.urls.MONGO_URL);
  const records = mongo.db('messaging').collection('messages');
  const shot = sendShot(gateway.origin, setup.places, aSilentText);
  let next = 0;
  const live: Live = async (run, due_ms) => {
    const index = next++;
    const headers = {
      'content-type': 'application/json',
      ...keyOf(setup.places[index % partners] as Place),
    };
    const { status, body } = await client.ask(
      requestBytes(gateway, '/v1/messages/send', headers, aText(index)),
    );
    const id = MESSAGE_ID.exec(body)?.[1];
    run.sends.push(now() - due_ms);
    if (status !== OK || id === undefined) return void (run.failed += 1);
    run.begun += 1;
    run.ids.add(id);
    await arrivals.all(id, STATUSES);
    run.lives.push(now() - due_ms);
  };
  const closers: Array<() => void> = [client.close, arrivals.close, setup.load.close];
  return {
    ...setup,
    ...loadWith(live, setup, records),
    /** Starts the bare chains; their processes join `pids`, and are returned by name. */
    async startFloor() {
      const events = await startBareEvents(setup);
      Object.assign(setup.pids, events.pids);
      const sends = await startBareSends(setup);
      const floor = floorOf(setup, arrivals, events.ingress, new URL(sends.shot.origin));
      closers.push(floor.close, events.load.close);
      return {
        ...loadWith(floor.live, setup, records),
        parts: [...events.parts, ...sends.parts],
      };
    },
    /** Sends whose statuses the upstream does not post. */
    openSends: (rate: number, seconds: number) => openLoop(shot, rate, seconds),
    closedSends: (in_flight: number, seconds: number) => closedLoop(shot, in_flight, seconds),
    async close(): Promise<void> {
      await mongo.close();
      for (const close of closers) close();
    },
  };
}

/** A life through the bare chains: a send, then an event for each status. */
function floorOf(
  { places }: Setup,
  arrivals: Arrivals,
  ingress: URL,
  edge: URL,
): { live: Live; close(): void } {
  const [sends, posts] = [createWireClient(edge.origin), createWireClient(ingress.origin)];
  const headers = { 'content-type': 'application/json' };
  let next = 0;
  return {
    async live(run, due_ms) {
      const { status } = await sends.ask(requestBytes(edge, '/', headers, aSilentText(next++)));
      run.sends.push(now() - due_ms);
      if (status !== OK) return void (run.failed += 1);
      run.begun += 1;
      const arrived: Promise<void>[] = [];
      for (let event = 0; event < STATUSES; event += 1) {
        const one = webhook(places);
        arrived.push(arrivals.all(one.id, 1));
        await posts.ask(wireWebhook(ingress, one));
      }
      await Promise.all(arrived);
      run.lives.push(now() - due_ms);
    },
    close() {
      sends.close();
      posts.close();
    },
  };
}

function loadWith(live: Live, { bench, pids }: Setup, records: Collection) {
  const measure = async (load: (run: Times) => Promise<unknown>): Promise<Lives> => {
    const run: Times = { sends: [], lives: [], failed: 0, begun: 0, ids: new Set() };
    let seconds = 0;
    const { result, tails } = await tailsDuring(bench, () =>
      costDuring(pids, async () => {
        const started = now();
        await load(run);
        seconds = (now() - started) / 1_000;
        return readBack(records, run.ids);
      }),
    );
    return {
      sends: summary(run.sends, run.failed, seconds),
      lives: summary(run.lives, run.begun - run.lives.length, seconds),
      unread: result.result,
      costs: result.costs,
      tails,
    };
  };
  return {
    /** Keeps `in_flight` lives running for `seconds`. */
    closed: (in_flight: number, seconds: number) =>
      measure((run) => inFlightFor(in_flight, seconds, () => live(run, now()))),
    /** Begins `rate` lives per second, regardless of how they go. */
    open: (rate: number, seconds: number) =>
      measure((run) => atRate(rate, seconds, (due) => live(run, due))),
  };
}

/** The events of one message that have arrived, and the callback to run once all of them have. */
interface Life {
  events: Set<string>;
  wanted: number;
  complete: (() => void) | undefined;
}

type Arrivals = ReturnType<typeof startReceiver>;

function startReceiver(port: number) {
  const lives = new Map<string, Life>();
  const lifeOf = (id: string): Life => {
    const life = lives.get(id) ?? { events: new Set(), wanted: Infinity, complete: undefined };
    lives.set(id, life);
    return life;
  };
  const server = startWireServer(port, ({ body }, socket) => {
    respond(socket, 'ok');
    const id = MESSAGE_ID.exec(body)?.[1];
    const event = EVENT.exec(body)?.[1];
    if (id === undefined || event === undefined) return;
    const life = lifeOf(id);
    life.events.add(event);
    if (life.events.size === life.wanted) life.complete?.();
  });
  return {
    /**
     * Resolves once so many different events of a message have arrived, which may be before the
     * answer to the send.
     */
    async all(id: string, wanted: number): Promise<void> {
      const life = lifeOf(id);
      life.wanted = wanted;
      if (life.events.size < wanted) {
        await new Promise<void>((resolve, reject) => {
          const late = setTimeout(() => {
            reject(new Error(`${id}: ${[...life.events].join(', ') || 'no event'} arrived`));
          }, ARRIVAL_LIMIT_MS);
          life.complete = () => {
            clearTimeout(late);
            resolve();
          };
        });
      }
      lives.delete(id);
    },
    close: () => {
      server.close();
    },
  };
}

/**
 * Reads the records of all messages until each is `read`; returns how many are not at the end.
 * Directly from the database: the stand-in sorts all records of a partner for each page of the
 * list.
 */
async function readBack(messages: Collection, ids: Set<string>): Promise<number> {
  let left = [...ids];
  for (const until = performance.now() + RECORDS_LIMIT_MS; ;) {
    const unread: string[] = [];
    for (let from = 0; from < left.length; from += PAGE) {
      const page = left.slice(from, from + PAGE);
      const found = await messages
        .find({ message_id: { $in: page }, status: 'read' })
        .project<{ message_id: string }>({ message_id: 1 })
        .toArray();
      const read = new Set(found.map(({ message_id }) => message_id));
      unread.push(...page.filter((id) => !read.has(id)));
    }
    if (unread.length === 0 || performance.now() > until) return unread.length;
    left = unread;
    await sleep(LOOK_EVERY_MS);
  }
}

const SEND = {
  warm_up_s: 4,
  measure_s: 10,
  half_s: 10,
  rounds: 3,
  /** Processes that have just started open their connections. */
  settle_ms: 500,
};

interface Row {
  name: string;
  shot: Shot;
  /** The best round, so that other load on the machine favours none. */
  best: Measured;
  costs: Record<string, Cost>;
  /** The rate of each round. */
  rates: number[];
}

/**
 * Compares the send path with the bare chain (koa → one unary gRPC call → undici → the same stub),
 * and with that chain when it counts each request in Redis and stores a record of it, in one run.
 */
const benchSend = (): Promise<void> =>
  withBench(async (bench) => {
    const setup = await prepareMesh(bench, {
      partners: 1,
      services: ['onboarding', 'messaging', 'gateway'],
      stub: 'silent',
    });
    const bare = await startBareSends(setup);
    const storing = await startBareSends(setup, 'storing');
    await sleep(SEND.settle_ms);
    const { gateway, places } = setup;
    const ours = sendShot(gateway, places);
    const headers = () => ({ ...keyOf(places[0] as Place), 'idempotency-key': randomUUID() });
    const [base, stored, mine, keyed] = (await inTurns(setup.pids, [
      ['bare chain', bare.shot],
      ['and Redis and MongoDB', storing.shot],
      ['gateway', ours],
      ['with an Idempotency-Key', { ...ours, headers }],
    ])) as [Row, Row, Row, Row];
    const halves: Row[] = [];
    for (const row of [base, mine]) {
      const best = await openLoop(row.shot, row.best.per_second / 2, SEND.half_s);
      halves.push({ ...row, best, rates: [] });
    }
    console.log(`\nSend path, ${WORKERS} requests in flight (target: a ratio of at least 0.60)`);
    printRow(base);
    for (const row of [stored, mine, keyed]) printRow(row, base);
    console.log('each at half of its full load');
    for (const row of halves) printRow(row);
    printCosts([base, stored, mine, keyed]);
  });

/** Measures each in turns, with many requests in flight. */
async function inTurns(
  pids: Record<string, number>,
  shots: ReadonlyArray<readonly [string, Shot]>,
): Promise<Row[]> {
  const rows = new Map<string, Row>();
  for (let round = 1; round <= SEND.rounds; round += 1) {
    for (const [name, shot] of shots) {
      await closedLoop(shot, WORKERS, round === 1 ? SEND.warm_up_s : 1);
      const { result, costs } = await costDuring(pids, () =>
        closedLoop(shot, WORKERS, SEND.measure_s),
      );
      const known = rows.get(name);
      const rates = [...(known?.rates ?? []), result.per_second];
      const better = !known || result.per_second > known.best.per_second;
      rows.set(name, better ? { name, shot, best: result, costs, rates } : { ...known, rates });
    }
  }
  return [...rows.values()];
}

function printRow({ name, best, rates }: Row, base?: Row): void {
  const { per_second, p50_ms, p99_ms, failed } = best;
  const ratios = rates.map((rate, round) => rate / (base?.rates[round] ?? rate));
  const ratio = base ? `   ratio ${spread(ratios, 2)}` : '';
  console.log(
    `${name.padEnd(24)} ${per_second.toFixed(0).padStart(6)} /s   p50 ${p50_ms.toFixed(1)} ms   p99 ${p99_ms.toFixed(1)} ms   failed ${failed}${ratio}`,
  );
}

function printCosts(rows: readonly Row[]): void {
  console.log('\nCPU seconds per 1,000 sends, and memory');
  for (const { name, best, costs } of rows) {
    for (const [part, { cpu_s, rss_mib }] of Object.entries(costs)) {
      const per_thousand = (cpu_s / best.count) * 1_000;
      if (per_thousand < REPORT_FROM_S || part === 'driver') continue;
      console.log(
        `  ${name.padEnd(24)} ${part.padEnd(14)} ${per_thousand.toFixed(3)} s   ${rss_mib.toFixed(0)} MiB`,
      );
    }
  }
}

const CURVE = {
  rates: SHORT ? [25, 300] : [25, 100, 300, 600],
  measure_s: SHORT ? 5 : 20,
  warm_up: { rate: 300, seconds: SHORT ? 5 : 60 },
  quiet_ms: SHORT ? 2_000 : 10_000,
};
/** The benchmark of the idle mesh. A process that has just started still compiles. */
const IDLE_MESH = SHORT ? { settle_s: 20, measure_s: 10 } : { settle_s: 60, measure_s: 60 };

interface Figures {
  /** CPU seconds per 1,000, without the idle part. */
  cpu_s: number;
  /** Wake-ups for each, without the idle part. */
  wakes: number;
  p50: number;
  p99: number;
}

interface Chain {
  /** The processes whose cost counts. */
  counts(part: string): boolean;
  /** Applies the load, and returns the duration of each item in ms. */
  work(rate: number, seconds: number): Promise<{ count: number; p50: number; p99: number }>;
}

const sending =
  (shot: Shot): Chain['work'] =>
  async (rate, seconds) => {
    const { count, p50_ms, p99_ms } = await openLoop(shot, rate, seconds);
    return { count, p50: p50_ms, p99: p99_ms };
  };

const posting =
  ({ receiver, places }: Setup, load: Load): Chain['work'] =>
  async (rate, seconds) => {
    const before = await receiver.count();
    const answered = await load.open(() => webhook(places), rate, seconds);
    await receiver.until(before + answered.length);
    const arrivals = await receiver.report();
    const delays = answered.map(({ id, due_ms }) => (arrivals.get(id) ?? due_ms) - due_ms);
    return { count: answered.length, p50: quantile(delays, 0.5), p99: quantile(delays, 0.99) };
  };

/**
 * The cost of a send and of an event at several rates, beside their bare chains: the whole mesh and
 * both chains run, and one of them is loaded at a time. The idle cost of each process is
 * subtracted.
 */
const benchCurve = (): Promise<void> =>
  withBench(async (bench) => {
    const setup = await prepareMesh(bench, { partners: PARTNERS, stub: 'silent' });
    const { pids, places, load } = setup;
    const mesh = new Set(Object.keys(pids).filter(OURS));
    const bare_events = await startBareEvents(setup);
    Object.assign(pids, bare_events.pids);
    const bare_sends = await startBareSends(setup);
    await sleep(CURVE.quiet_ms);
    const ofMesh = (work: Chain['work']): Chain => ({ counts: (part) => mesh.has(part), work });
    const of = (parts: string[], work: Chain['work']): Chain => ({
      counts: (part) => parts.includes(part),
      work,
    });
    const chains: Record<'sends' | 'events', [mesh: Chain, bare: Chain]> = {
      sends: [
        ofMesh(sending(sendShot(setup.gateway, places))),
        of(bare_sends.parts, sending(bare_sends.shot)),
      ],
      events: [
        ofMesh(posting(setup, load)),
        of(['kafka', ...bare_events.parts], posting(setup, bare_events.load)),
      ],
    };
    for (const pair of Object.values(chains)) {
      for (const chain of pair) await chain.work(CURVE.warm_up.rate, CURVE.warm_up.seconds);
    }
    await sleep(CURVE.quiet_ms);
    const idle = await measureIdle(pids, IDLE_S);
    for (const [what, [ours, bare]] of Object.entries(chains)) {
      console.log(`\n${what}: CPU s per 1,000 and wake-ups of each without the idle part`);
      for (const rate of CURVE.rates) {
        const { result: mine, tails } = await tailsDuring(bench, () =>
          measureChain(ours, rate, idle, pids),
        );
        printRate(rate, mine, await measureChain(bare, rate, idle, pids));
        const waits = what === 'sends' ? tails.send : tails.event;
        console.log(`       the slowest hundredth of the mesh waited for ${shares(waits)}`);
      }
    }
    load.close();
    bare_events.load.close();
  });

async function measureChain(
  chain: Chain,
  rate: number,
  idle: Idle,
  pids: Record<string, number>,
): Promise<Figures> {
  const started = performance.now();
  const { result, costs } = await costDuring(pids, () => chain.work(rate, CURVE.measure_s));
  const seconds = (performance.now() - started) / 1_000;
  let cpu_s = 0;
  let wakes = 0;
  for (const [part, cost] of Object.entries(costs)) {
    if (DRIVERS.has(part) || !chain.counts(part)) continue;
    const own = withoutIdle(idle, part, cost, seconds);
    cpu_s += own.cpu_s;
    wakes += own.wakes;
  }
  const { count, p50, p99 } = result;
  return { cpu_s: (cpu_s / count) * 1_000, wakes: wakes / count, p50, p99 };
}

function printRate(rate: number, mine: Figures, base: Figures): void {
  const text = ({ cpu_s, wakes, p50, p99 }: Figures): string =>
    `${cpu_s.toFixed(2).padStart(6)} s, ${wakes.toFixed(1).padStart(5)} wake-ups, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
  console.log(
    `  ${String(rate).padStart(4)} /s   mesh ${text(mine)}   bare ${text(base)}   ` +
      `ratio of CPU ${(mine.cpu_s / base.cpu_s).toFixed(1)}`,
  );
}

/** The cost without any request: CPU and wake-ups of each process per second, and memory. */
const benchIdle = (): Promise<void> =>
  withBench(async (bench) => {
    const measureSettled = async (pids: Record<string, number>): Promise<void> => {
      await sleep(IDLE_MESH.settle_s * 1_000);
      printIdle(await measureIdle(pids, IDLE_MESH.measure_s));
    };
    console.log('The engines by themselves');
    await measureSettled(
      Object.fromEntries(bench.engines.started.map(({ name, pid }) => [name, pid])),
    );
    const { load, pids } = await prepareMesh(bench, { partners: 1 });
    load.close();
    await measureSettled(pids);
  });

const BENCHES: Record<string, () => Promise<void>> = {
  life: benchLife,
  curve: benchCurve,
  send: benchSend,
  events: benchEvents,
  scale: benchScale,
  stored: benchStored,
  hot: benchHot,
  idle: benchIdle,
};

const RESULTS = join(ROOT, 'test/bench/RESULTS.md');
/** A part of a benchmark, or one for another command, is no result of this page. */
const PARTIAL =
  process.env['BENCH_SHORT'] === '1' ||
  process.env['BENCH_ROOT'] !== undefined ||
  process.env['BENCH_PROFILE'] !== undefined;

async function main(): Promise<void> {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !(name in BENCHES));
  if (unknown.length > 0) {
    console.error(
      `unknown benchmark ${unknown.join(', ')}: choose from ${Object.keys(BENCHES).join(', ')}`,
    );
    process.exitCode = 2;
    return;
  }
  const printed = collectOutput();
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.log(`\n=== ${name}`);
    printed.length = 0;
    await bench();
    if (!PARTIAL) record(name, printed);
  }
}

/** Lines that `console.log` printed. */
function collectOutput(): string[] {
  const printed: string[] = [];
  const { log } = console;
  console.log = (...words: unknown[]): void => {
    log(...words);
    printed.push(words.join(' '));
  };
  return printed;
}

function record(name: string, lines: readonly string[]): void {
  const commit = String(execFileSync('git', ['describe', '--always', '--dirty'], { cwd: ROOT }));
  const machine = `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 1024 ** 3)} GiB`;
  const about = `Commit ${commit.trim()}, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${machine}.`;
  const page = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8') : '';
  writeFileSync(RESULTS, withSection(page, Object.keys(BENCHES), { name, about, lines }));
}

const HEAD = `# Results

Written by \`make bench\`, a section for each benchmark: do not edit. [What they measure, and what the
figures say](README.md).`;

/** Returns the page with this benchmark's section replaced, or added in the order of `names`. */
function withSection(
  page: string,
  names: readonly string[],
  section: { name: string; about: string; lines: readonly string[] },
): string {
  const [, ...parts] = page.split(/^## /m);
  const known = new Map(
    parts.map((part): [string, string] => [part.split('\n')[0] as string, `## ${part.trim()}`]),
  );
  const { name, about, lines } = section;
  known.set(
    name,
    `## ${name}\n\n${about}\n\n\`\`\`text\n${lines.join('\n').replace(/^ *\n/, '').trimEnd()}\n\`\`\``,
  );
  const sections = names.flatMap((one) => known.get(one) ?? []);
  return `${HEAD}\n\n${sections.join('\n\n')}\n`;
}

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
}
