// Starts what a benchmark loads, each part as a separate process: a mesh with partners and their
// receiver, and the bare chains. Measures what a load costs each process, and what its slowest part
// waits for.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRpcClient, ownCall } from '@bmg/common/rpc';
import { unsampled } from '@bmg/common/telemetry';
import { OperatorDefinition } from '@bmg/proto/onboarding';
import {
  findProcess,
  freePort,
  freePorts,
  logTail,
  meshSettings,
  NODE_FLAGS,
  processEnv,
  SERVICE_NAMES,
  startEngines,
  type Engines,
  type ServiceName,
  type Settings,
} from '@bmg/local';
import { EmulatorClient } from '../emulator/client';
import { eventually } from '../testkit/eventually';
import { residentMib } from '../testkit/resident-memory';
import { aText, createLoad, quantile, webhook, type Place, type Shot } from './load';

export const ROOT = resolve(__dirname, '../../..');
/** BENCH_ROOT measures the services of another checkout with this driver (`make bench-compare`). */
const SERVICES_ROOT = process.env['BENCH_ROOT'] ?? ROOT;
const rootOf = (entry: string): string => (entry.startsWith('test/') ? ROOT : SERVICES_ROOT);
export const HOST = '127.0.0.1';
const READY_LIMIT_MS = 120_000;
/** BENCH_NODE_FLAGS adds flags of Node, which override those that `make up` uses. */
const FLAGS = [...NODE_FLAGS, ...(process.env['BENCH_NODE_FLAGS']?.split(' ') ?? [])];
const STOP_LIMIT_MS = 15_000;
/** The exit code of a shell's command that a signal ended. */
const INTERRUPTED = 130;
/** Clock ticks per second in /proc/<pid>/stat on every common Linux. */
const TICKS = 100;

export const SETTLE_MS = 1_500;
const PARTS = 'test/dist/bench/parts.js';
/** The processes of the bare chain of events join their groups at Kafka. */
const BARE_START_MS = 10_000;
const ARRIVAL_LIMIT_MS = 120_000;
const LOOK_EVERY_MS = 100;
const RPC_LIMIT_MS = 10_000;
const REACH_LIMIT_MS = 20_000;

export interface Part {
  name: string;
  pid: number;
  metrics_port: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** The counts of the process so far, under BENCH_COUNTERS=1 (counters.ts); else nothing. */
  counts(): Promise<Record<string, number>>;
}

export interface Bench {
  engines: Engines;
  settings: Settings;
  /**
   * `entry` is a compiled file, relative to the root of the repository; a service has one. A
   * process of a service beside the first one gets its ports with `extra`.
   */
  start(name: string, entry: string, extra?: NodeJS.ProcessEnv): Part;
  ready(...names: string[]): Promise<void>;
  parts: Map<string, Part>;
}

/** The compiled file of a service. */
export const entryOf = (name: ServiceName): string => findProcess(name).entry;

/**
 * Starts engines and prepares settings of a separate mesh, independent of one that may be running,
 * and stops everything after `work`. `engine_settings` override those of the environment.
 */
export async function withBench(
  work: (bench: Bench) => Promise<void>,
  engine_settings: NodeJS.ProcessEnv = {},
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'bmg-bench-'));
  const engines = await startEngines({
    dir,
    ports: 'free',
    env: { ...process.env, ...engine_settings },
    log: (line) => console.error(`  ${line}`),
  });
  const settings = await settingsOf(engines);
  const parts = new Map<string, Part>();
  const start: Bench['start'] = (name, entry, extra = {}) => {
    const part = startPart(name, entry, { dir, settings, extra }, () => parts.delete(name));
    parts.set(name, part);
    return part;
  };
  const ready: Bench['ready'] = async (...names) => {
    for (const name of names) await untilReady(parts.get(name) as Part, dir);
  };
  const stop = async (): Promise<void> => {
    await Promise.all([...parts.values()].map((part) => part.stop()));
    await engines.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  const interrupted = (): void => void stop().finally(() => process.exit(INTERRUPTED));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    await work({ engines, settings, start, ready, parts });
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await stop();
  }
}

/** Those of a local mesh without a limit of requests, which keeps its event log unsealed. */
async function settingsOf({ urls }: Engines): Promise<Settings> {
  const { EVENT_LOG_KEYRING: _unsealed, ...settings } = meshSettings({
    ...(await freePorts()),
    ...urls,
    RATE_LIMIT_PER_SEC: '100000',
  });
  return { ...settings, DRAIN_MS: '0' };
}

function envOf(name: string, settings: Settings, extra: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, COUNT_TIMERS } = process.env;
  const common = { PATH, COUNT_TIMERS, NODE_ENV: 'production' };
  const service = SERVICE_NAMES.find((one) => one === name);
  const env = service ? processEnv(findProcess(service), common, settings) : common;
  return { ...settings, ...env, ...extra };
}

function startPart(
  name: string,
  entry: string,
  { dir, settings, extra }: { dir: string; settings: Settings; extra: NodeJS.ProcessEnv },
  stopped: () => void,
): Part {
  const env = envOf(name, settings, extra);
  const log = openSync(join(dir, `${name}.log`), 'a');
  const child = spawn(
    process.execPath,
    [...profiling(name), ...FLAGS, ...counting(entry), join(rootOf(entry), entry)],
    {
      cwd: rootOf(entry),
      stdio: ['ignore', log, log, ...(isCounting(entry) ? (['ipc'] as const) : [])],
      env,
    },
  );
  const exited = once(child, 'exit');
  return {
    name,
    pid: child.pid as number,
    metrics_port: Number(env['METRICS_PORT']),
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await exited;
      clearTimeout(late);
      stopped();
    },
    async counts() {
      if (!isCounting(entry)) return {};
      const answered = once(child, 'message');
      child.send('counts');
      const [counts] = (await answered) as [Record<string, number>];
      return counts;
    },
  };
}

/** BENCH_PROFILE=DIR writes a CPU profile of every process there. */
function profiling(name: string): string[] {
  const dir = process.env['BENCH_PROFILE'];
  return dir ? ['--cpu-prof', `--cpu-prof-dir=${dir}`, `--cpu-prof-name=${name}.cpuprofile`] : [];
}

/** The driver's own processes are not counted. */
const isCounting = (entry: string): boolean =>
  process.env['BENCH_COUNTERS'] === '1' && !entry.startsWith('test/');

const counting = (entry: string): string[] =>
  isCounting(entry) ? ['--require', join(ROOT, 'test/dist/bench/counters.js')] : [];

async function untilReady({ name, metrics_port }: Part, dir: string): Promise<void> {
  try {
    const look = async () => (await fetch(`http://${HOST}:${metrics_port}/readyz`)).ok;
    await eventually(look, READY_LIMIT_MS);
  } catch {
    throw new Error(`${name} did not become ready:\n${logTail(join(dir, `${name}.log`))}`);
  }
}

export type Setup = Awaited<ReturnType<typeof prepareMesh>>;

interface MeshOptions {
  partners: number;
  /** All services unless given. */
  services?: readonly ServiceName[];
  /** Messaging sends to the stub of the upstream, which posts `statuses` of each send or none. */
  stub?: 'silent' | 'statuses';
  /** The port of a receiver in this process. */
  own_port?: number;
}

export async function prepareMesh(
  bench: Bench,
  { partners, services = SERVICE_NAMES, stub, own_port }: MeshOptions,
) {
  const receiver_port = own_port ?? (await freePort());
  const receiver_url = `http://${HOST}:${receiver_port}`;
  const pids: Record<string, number> = {};
  const start = (name: string, entry: string, env?: NodeJS.ProcessEnv): void => {
    pids[name] = bench.start(name, entry, env).pid;
  };
  if (own_port === undefined) {
    start('receiver', PARTS, { PART: 'receiver', PORT: String(receiver_port) });
  }
  start('emulator', 'test/dist/emulator/main.js');
  const stub_port = await freePort();
  const stub_url = `http://${HOST}:${stub_port}`;
  for (const name of services) {
    const env = name === 'messaging' && stub ? { UPSTREAM_URL: stub_url } : {};
    start(name, entryOf(name), env);
  }
  for (const { name, pid } of bench.engines.started) pids[name] = pid;
  pids['driver'] = process.pid;
  const { PUBLIC_URL: gateway = '', INGRESS_URL: ingress = '' } = bench.settings;
  await bench.ready(...services);
  const places = await registerPartners(bench, receiver_url, partners);
  if (stub) {
    const accounts = places.map((place) => [place.phone_number_id, place.waba_id]);
    start('stub', PARTS, {
      PART: 'stub',
      PORT: String(stub_port),
      ...(stub === 'statuses' && {
        STUB_WEBHOOKS: ingress,
        STUB_ACCOUNTS: JSON.stringify(Object.fromEntries(accounts)),
      }),
    });
  }
  await sleep(SETTLE_MS);
  return {
    bench,
    load: createLoad(ingress),
    receiver: receiverControl(receiver_url),
    receiver_url,
    stub_url,
    gateway,
    places,
    pids,
  };
}

/** Registers partners with one number each; all use one receiver, each with its own path. */
export async function registerPartners(
  bench: Bench,
  receiver_url: string,
  count: number,
): Promise<Place[]> {
  const emulator = new EmulatorClient(bench.settings['EMULATOR_URL'] as string);
  const operator = createRpcClient(OperatorDefinition, bench.settings['ONBOARDING_ADDR'] as string);
  const places: Place[] = [];
  for (let index = 0; index < count; index += 1) {
    const { partner_key } = await operator.rpc.createPartner(
      {
        name: `Bench ${index}`,
        webhook_url: `${receiver_url}/p${index}`,
        rate_limit_per_sec: 100_000,
        max_wabas: undefined,
      },
      ownCall(unsampled(), RPC_LIMIT_MS),
    );
    const account = await emulator.createAccount({ numbers: [{}], tokens: [{}] });
    const { waba_id } = account;
    const number = { waba_id, phone_number_id: account.phone_number_ids[0] as string };
    await register(bench, partner_key, { ...number, access_token: account.tokens[0] });
    places.push({ ...number, partner_key });
  }
  await operator.stop();
  return places;
}

/** Services that have just started may not have found each other. */
const register = (bench: Bench, partner_key: string, number: object): Promise<boolean> =>
  eventually(async () => {
    const answer = await fetch(`${bench.settings['BASE_URL']}/clients/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-partner-key': partner_key },
      body: JSON.stringify(number),
    });
    if (!answer.ok) throw new Error(`registration: ${answer.status} ${await answer.text()}`);
    return true;
  }, REACH_LIMIT_MS);

/** Controls the receiver of parts.ts. */
function receiverControl(url: string) {
  // any: two shapes
  const ask = async (path: string) => (await (await fetch(`${url}${path}`)).json()) as any;
  const count = async (): Promise<number> => (await ask('/count')).count;
  return {
    count,
    async until(wanted: number): Promise<void> {
      const until = Date.now() + ARRIVAL_LIMIT_MS;
      while ((await count()) < wanted) {
        if (Date.now() > until) throw new Error(`${await count()} of ${wanted} events arrived`);
        await sleep(LOOK_EVERY_MS);
      }
    },
    /** Returns the first arrival of each event, and clears the record. */
    async report() {
      const { arrivals } = (await ask('/report')) as { arrivals: Array<[string, number]> };
      // Reversed, so that the first of several arrivals of an event stays.
      return new Map(arrivals.reverse());
    },
    hang: async (path: string) => void (await ask(`/hang?path=${path}`)),
    heal: async () => void (await ask('/heal')),
  };
}

/**
 * Starts the bare chain of sends, which calls the stub. `storing` adds a count in Redis and a
 * record in MongoDB for each request. Returns the names of its processes, too, which join `pids`.
 */
export async function startBareSends(
  { bench, pids, stub_url }: Setup,
  name: 'bare' | 'storing' = 'bare',
) {
  const port = await freePort();
  const env = {
    SERVICE_ADDR: `${HOST}:${await freePort()}`,
    PORT: String(port),
    UPSTREAM_URL: stub_url,
    ...(name === 'bare' && { REDIS_URL: '', MONGO_URL: '' }),
  };
  const parts = ['service', 'edge'].map((half) => {
    const part = `${name} ${half}`;
    pids[part] = bench.start(part, PARTS, { ...env, PART: half }).pid;
    return part;
  });
  const shot: Shot = { origin: `http://${HOST}:${port}`, path: '/', headers: {}, body: aText };
  return { shot, parts };
}

/**
 * Starts the bare chain of events, which posts to the receiver of the mesh. `database` is where it
 * stores the events, by partner. Its `pids` are those of its own parts and engines; `startBeside`
 * starts second processes of some parts, and returns their names.
 */
export async function startBareEvents(setup: Setup, database?: string) {
  const port = await freePort();
  const { kafka = 0, mongo = 0 } = setup.pids;
  const pids: Record<string, number> = { kafka, ...(database !== undefined && { mongo }) };
  const start = async (parts: readonly string[], suffix = ''): Promise<string[]> => {
    const names = parts.map((part) => {
      const name = `bare-${part}${suffix}`;
      pids[name] = setup.bench.start(name, PARTS, {
        PART: part,
        PORT: String(port),
        RECEIVER_URL: setup.receiver_url,
        ...(database !== undefined && { BARE_DATABASE: database }),
      }).pid;
      return name;
    });
    await sleep(BARE_START_MS);
    return names;
  };
  const parts = await start(['ingress', 'fanout', 'deliver']);
  const ingress = new URL(`http://${HOST}:${port}`);
  const load = createLoad(ingress.origin);
  const startBeside = (names: readonly string[]): Promise<string[]> => start(names, ' 2');
  return { ...setup, load, ingress, pids, parts, startBeside };
}

export interface Cost {
  cpu_s: number;
  rss_mib: number;
  /** How often a thread of the process went to sleep and woke up: voluntary context switches. */
  wakes: number;
  /** Seconds in which a thread of the process could run, and waited for a core. */
  queued_s: number;
}

/** The second field of /proc/<pid>/task/<thread>/schedstat is in nanoseconds. */
const QUEUED = /^\d+ (\d+)/;
const NS_PER_S = 1e9;

/** Sums a field over the threads of a process; a thread that ends meanwhile counts nothing. */
function overThreads(pid: number, file: string, field: RegExp): number {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const status = readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'utf8');
      sum += Number(field.exec(status)?.[1] ?? 0);
    } catch {
      continue;
    }
  }
  return sum;
}

/** CPU seconds and wake-ups so far, and current memory; zeros on a system without /proc. */
export function costOf(pid: number): Cost {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
      cpu_s: (Number(fields[11]) + Number(fields[12])) / TICKS,
      rss_mib: residentMib(pid),
      wakes: overThreads(pid, 'status', /^voluntary_ctxt_switches:\s+(\d+)/m),
      queued_s: overThreads(pid, 'schedstat', QUEUED) / NS_PER_S,
    };
  } catch {
    return { cpu_s: 0, rss_mib: 0, wakes: 0, queued_s: 0 };
  }
}

/** Returns the CPU, the wake-ups and the memory of each process while `work` ran. */
export async function costDuring<T>(
  pids: Record<string, number>,
  work: () => Promise<T>,
): Promise<{ result: T; costs: Record<string, Cost> }> {
  const before = Object.entries(pids).map(([name, pid]) => [name, costOf(pid)] as const);
  const result = await work();
  const costs = Object.fromEntries(
    before.map(([name, then]) => {
      const now = costOf(pids[name] as number);
      const { rss_mib } = now;
      const [cpu_s, wakes] = [now.cpu_s - then.cpu_s, now.wakes - then.wakes];
      return [name, { cpu_s, wakes, rss_mib, queued_s: now.queued_s - then.queued_s }];
    }),
  );
  return { result, costs };
}

export const WORKERS = 64;

export interface Throughput {
  events: number;
  seconds: number;
  costs: Record<string, Cost>;
  /** Deliveries that went through the store, by reason; a healthy run stores none. */
  stored: Record<string, number>;
}

/** Posts all `events` as fast as they are accepted, until the last one has arrived. */
export async function throughput(setup: Setup, events: number, items = 1): Promise<Throughput> {
  const { load, places } = setup;
  const webhooks = Array.from({ length: events / items }, () => webhook(places, items));
  const post = load.closed(webhooks, WORKERS);
  return untilArrived(setup, async () => {
    const answered = await post();
    const refused = answered.filter(({ status }) => status !== 200).length;
    if (refused > 0) throw new Error(`${refused} webhooks were refused`);
    return events;
  });
}

/** Runs `work`, which returns how many events it had accepted, until they have arrived. */
export async function untilArrived(setup: Setup, work: () => Promise<number>): Promise<Throughput> {
  const { receiver, pids } = setup;
  const before = await receiver.count();
  const stored_before = await storedOf(setup);
  const started = performance.now();
  const { result: events, costs } = await costDuring(pids, async () => {
    const accepted = await work();
    await receiver.until(before + accepted);
    return accepted;
  });
  await receiver.report();
  const seconds = (performance.now() - started) / 1_000;
  return { events, seconds, costs, stored: grown(await storedOf(setup), stored_before) };
}

const metricsOf = async ({ parts }: Bench, name: string): Promise<string> =>
  (await fetch(`http://${HOST}:${parts.get(name)?.metrics_port}/metrics`)).text();

/** The values of a metric by its label, which is the pattern's first group. */
const byLabel = (page: string, line: RegExp): Record<string, number> =>
  Object.fromEntries([...page.matchAll(line)].map(([, label, sum]) => [label, Number(sum)]));

const grown = (
  after: Record<string, number>,
  before: Record<string, number>,
): Record<string, number> =>
  Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  );

const STORED = /^webhook_deliveries_stored_total\{reason="(\w+)"\} (\d+)/gm;

/** Deliveries that webhooks has written to the store since its start, by reason. */
const storedOf = async ({ bench }: Setup): Promise<Record<string, number>> =>
  byLabel(await metricsOf(bench, 'webhooks'), STORED);

export function storedText({ stored }: Throughput): string {
  const reasons = Object.entries(stored).filter(([, count]) => count > 0);
  return reasons.map(([reason, count]) => `   stored: ${reason} ${count}`).join('');
}

/** The parts of a run that are not the mesh or its engines. */
export const DRIVERS = new Set(['driver', 'receiver', 'emulator', 'stub']);
export const OURS = (name: string): boolean => !DRIVERS.has(name);
export const perThousand = ({ costs, events }: Throughput, name: string): number =>
  ((costs[name]?.cpu_s ?? 0) / events) * 1_000;
export const rateOf = ({ events, seconds }: Throughput): number => events / seconds;
export const cpuOf = (run: Throughput): number =>
  Object.keys(run.costs)
    .filter(OURS)
    .reduce((sum, part) => sum + perThousand(run, part), 0);
export const byCost = (costs: Record<string, Cost>): Array<[string, Cost]> =>
  Object.entries(costs).sort(([, a], [, b]) => b.cpu_s - a.cpu_s);

/** Less CPU than this for 1,000 is not printed. */
export const REPORT_FROM_S = 0.002;

export const delayText = ({ p50, p99, missing }: Awaited<ReturnType<typeof delaysAt>>): string =>
  `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, missing ${missing}`;

/**
 * Posts at a rate, and measures from each 200 of the ingress to the arrival of its event: for all
 * places, or for those that are `wanted`.
 */
export async function delaysAt(
  { load, receiver, places }: Setup,
  rate: number,
  seconds: number,
  wanted: (place: number) => boolean = () => true,
) {
  const posted = await load.open(() => webhook(places), rate, seconds);
  await sleep(SETTLE_MS);
  const arrivals = await receiver.report();
  const answered = posted.filter(({ place }) => wanted(place));
  const found = answered.flatMap(({ id, at_ms }) => {
    const arrived = arrivals.get(id);
    // An event may arrive before its 200 is read here.
    return arrived === undefined ? [] : [Math.max(0, arrived - at_ms)];
  });
  return {
    p50: quantile(found, 0.5),
    p99: quantile(found, 0.99),
    missing: answered.length - found.length,
  };
}

export type Idle = Awaited<ReturnType<typeof measureIdle>>;

/** The cost of each process in `seconds` without a request. */
export async function measureIdle(pids: Record<string, number>, seconds: number) {
  const { costs } = await costDuring(pids, () => sleep(seconds * 1_000));
  return { seconds, costs };
}

/** The cost of a process in a load that took `seconds`, without the idle part. */
export function withoutIdle(
  { costs, ...idle }: Idle,
  name: string,
  cost: Cost,
  seconds: number,
): Cost {
  const periods = seconds / idle.seconds;
  const { cpu_s = 0, wakes = 0 } = costs[name] ?? {};
  return { ...cost, cpu_s: cost.cpu_s - cpu_s * periods, wakes: cost.wakes - wakes * periods };
}

export function printIdle({ costs, seconds }: Idle): void {
  const parts = byCost(costs).filter(([name]) => OURS(name));
  const ms = (cpu_s: number): string => ((cpu_s * 1_000) / seconds).toFixed(1);
  const all = parts.reduce((sum, [, { cpu_s }]) => sum + cpu_s, 0);
  console.log(`CPU without a request: ${ms(all)} ms a second; wake-ups a second of each process`);
  for (const [name, { cpu_s, wakes, rss_mib }] of parts) {
    console.log(
      `  ${name.padEnd(12)} ${ms(cpu_s).padStart(5)} ms/s   ${(wakes / seconds).toFixed(0).padStart(5)}   ${rss_mib.toFixed(0)} MiB`,
    );
  }
}

/** Seconds by what was waited for. */
type Waits = Record<string, number>;

export type Tails = Awaited<ReturnType<typeof readTails>>;

const SEND =
  /^http_server_slowest_wait_seconds_sum\{http_route="\/messages\/send",waited_for="(\w+)"\} (\S+)/gm;
const EVENT = /^webhook_slowest_wait_seconds_sum\{waited_for="(\w+)"\} (\S+)/gm;
const COLLECTION = /^nodejs_gc_duration_seconds_sum\{kind="(\w+)"\} (\S+)/gm;
const OF_TAILS = ['gateway', 'messaging', 'webhooks', 'fanout'];

const total = (waits: Waits): number => Object.values(waits).reduce((sum, one) => sum + one, 0);

/**
 * What the slowest hundredth of the sends and of the events waited for, and the seconds of
 * collections of each process.
 */
async function readTails(bench: Bench) {
  const pages = new Map<string, string>();
  for (const name of OF_TAILS) pages.set(name, await metricsOf(bench, name));
  return {
    send: byLabel(pages.get('gateway') ?? '', SEND),
    event: byLabel(pages.get('webhooks') ?? '', EVENT),
    collections: Object.fromEntries(
      [...pages].map(([name, page]) => [name, total(byLabel(page, COLLECTION))]),
    ),
  };
}

/** Returns the waits during `work`. */
export async function tailsDuring<T>(
  bench: Bench,
  work: () => Promise<T>,
): Promise<{ result: T; tails: Tails }> {
  const before = await readTails(bench);
  const result = await work();
  const after = await readTails(bench);
  const tails = {
    send: grown(after.send, before.send),
    event: grown(after.event, before.event),
    collections: grown(after.collections, before.collections),
  };
  return { result, tails };
}

const LEAST_SHARE = 0.01;

/** Shares of the whole wait, the largest first. */
export function shares(waits: Waits): string {
  const all = total(waits);
  if (all === 0) return 'none was slow';
  return Object.entries(waits)
    .filter(([, one]) => one / all >= LEAST_SHARE)
    .sort(([, one], [, other]) => other - one)
    .map(([what, one]) => `${what} ${((one / all) * 100).toFixed(0)} %`)
    .join(', ');
}
