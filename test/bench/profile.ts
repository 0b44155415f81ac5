// make profile SERVICE=webhooks [BENCH=events]: runs a benchmark with a CPU profile of each
// process, and prints where the time of one of them goes: by package of node_modules, and by folder
// of ours. What Node does for a package, such as writing to a socket, counts for the package.
//
// make profile WHAT=life: counts what one event, one send and one life take of each process, at 20
// a second and at full load: wake-ups, writes to sockets, requests to Kafka, commands and documents
// of MongoDB and the time until their answers, commands of Redis, gRPC calls, log lines, spans,
// collections.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICE_NAMES } from '@bmg/local';
import { webhook } from './load';
import { prepareLives, type LifeLoad } from './main';
import { costOf, OURS, ROOT, SETTLE_MS, withBench } from './mesh';

const SHOWN = 20;
/** The benchmark that loads a service, if it is not `events`. */
const BENCH_OF: Record<string, string> = { gateway: 'send' };

/** The parts of a .cpuprofile file used here: times in microseconds. */
interface Profile {
  nodes: Array<{
    id: number;
    callFrame: { functionName: string; url: string };
    children?: number[];
  }>;
  samples: number[];
  timeDeltas: number[];
}
type Node = Profile['nodes'][number];

/** Work of V8 for all code: no caller is to blame. */
const RUNTIME = new Set(['(garbage collector)', '(program)']);

/** `kafkajs`, `@grpc/grpc-js`, `services/webhooks/dist/delivery`; undefined for Node itself. */
function partOf({ functionName, url }: Node['callFrame']): string | undefined {
  if (RUNTIME.has(functionName)) return functionName;
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(url);
  if (inPackage?.[1]) return inPackage[1];
  if (url === '' || url.startsWith('node:')) return undefined;
  return dirname(url.replace('file://', '').replace(`${ROOT}/`, ''));
}

/** Neither these nor the functions that they call are the work of a service. */
const LEFT_OUT = new Set(['(idle)', 'Module._load']);

/** Seconds by part, the largest first; waiting and the loading of modules are left out. */
function topOf({ nodes, samples, timeDeltas }: Profile): Array<[string, number]> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parts = new Map<number, string>();
  const visit = ({ id, callFrame, children = [] }: Node, caller: string): void => {
    if (LEFT_OUT.has(callFrame.functionName)) return;
    const part = partOf(callFrame) ?? caller;
    parts.set(id, part);
    for (const child of children) visit(byId.get(child) as Node, part);
  };
  // The first node is the root of all.
  visit(nodes[0] as Node, 'node');
  const seconds = new Map<string, number>();
  samples.forEach((id, index) => {
    const part = parts.get(id);
    if (part === undefined) return;
    seconds.set(part, (seconds.get(part) ?? 0) + (timeDeltas[index] ?? 0) / 1e6);
  });
  return [...seconds].sort(([, a], [, b]) => b - a);
}

function profile(service: string, given: string | undefined): void {
  if (!(SERVICE_NAMES as string[]).includes(service)) {
    throw new Error(`name a service: make profile SERVICE=${SERVICE_NAMES.join('|')}`);
  }
  const bench = given ?? BENCH_OF[service] ?? 'events';
  const dir = mkdtempSync(join(tmpdir(), 'bmg-profile-'));
  const { status } = spawnSync(process.execPath, [join(__dirname, 'main.js'), bench], {
    stdio: 'inherit',
    env: { ...process.env, BENCH_SHORT: '1', BENCH_PROFILE: dir },
  });
  if (status !== 0) throw new Error('the benchmark failed');
  const file = join(dir, `${service}.cpuprofile`);
  const top = topOf(JSON.parse(readFileSync(file, 'utf8')) as Profile);
  const total = top.reduce((sum, [, seconds]) => sum + seconds, 0);
  console.log(`\n${service}: ${total.toFixed(1)} CPU s. The whole profile: ${file}`);
  for (const [part, seconds] of top.slice(0, SHOWN)) {
    console.log(`  ${((seconds / total) * 100).toFixed(1).padStart(5)} %  ${part}`);
  }
}

const SHORT = process.env['BENCH_SHORT'] === '1';
const PARTNERS = Number(process.env['PROFILE_PARTNERS'] ?? 10);
const SLOW_RATE = 20;
const IN_FLIGHT = 64;
const MEASURE_S = SHORT ? 5 : 15;
const WARM_UP_S = SHORT ? 5 : 30;
const EVENTS = SHORT ? 1_000 : 20_000;
const QUIET_MS = SHORT ? 2_000 : 5_000;
const LEAST = 0.01;

type Counts = Record<string, number>;
/** Counts of each process, by name. */
type Snapshot = Map<string, Counts>;

type Column = Awaited<ReturnType<typeof column>>;

async function snapshot({ bench, pids }: LifeLoad): Promise<Snapshot> {
  const parts = Object.entries(pids).filter(([name]) => OURS(name));
  return new Map(
    await Promise.all(
      parts.map(async ([name, pid]) => {
        const counts = (await bench.parts.get(name)?.counts()) ?? {};
        const { wakes, cpu_s } = costOf(pid);
        return [name, { 'wake-ups': wakes, 'CPU, ms': cpu_s * 1_000, ...counts }] as const;
      }),
    ),
  );
}

/** The counts of each process during `work`, divided by the number of items that it returns. */
async function column(load: LifeLoad, name: string, work: () => Promise<number>) {
  await sleep(QUIET_MS);
  const before = await snapshot(load);
  const things = await work();
  const after = await snapshot(load);
  const of = new Map(
    [...after].map(([part, counts]) => [
      part,
      Object.fromEntries(
        Object.entries(counts).map(([what, value]) => [
          what,
          (value - (before.get(part)?.[what] ?? 0)) / things,
        ]),
      ),
    ]),
  );
  console.error(`  ${name}: ${things.toFixed(0)}`);
  return { name, of };
}

function print(columns: readonly Column[]): void {
  const widths = columns.map(({ name }) => Math.max(9, name.length));
  const parts = [...(columns[0]?.of.keys() ?? [])];
  for (const part of parts) {
    const names = [...new Set(columns.flatMap(({ of }) => Object.keys(of.get(part) ?? {})))];
    const heads = columns.map(({ name }, index) => name.padStart(widths[index] as number));
    console.log(`\n${part.padEnd(52)} ${heads.join('  ')}`);
    for (const what of grouped(names)) {
      const values = columns.map(({ of }) => of.get(part)?.[what] ?? 0);
      if (values.every((value) => value < LEAST)) continue;
      const cells = values.map((value, index) =>
        (value < LEAST ? '' : value.toFixed(2)).padStart(widths[index] as number),
      );
      console.log(`  ${what.slice(0, 50).padEnd(50)} ${cells.join('  ')}`);
    }
  }
}

/** Sums first, then their parts. */
const grouped = (names: readonly string[]): string[] => [
  ...names.filter((name) => !name.startsWith(' ')),
  ...names.filter((name) => name.startsWith(' ')).sort(),
];

function countLives(): Promise<void> {
  process.env['BENCH_COUNTERS'] = '1';
  return withBench(async (bench) => {
    const load = await prepareLives(bench, PARTNERS);
    await sleep(SETTLE_MS);
    await load.closed(IN_FLIGHT, WARM_UP_S);
    const event = (): ReturnType<typeof webhook> => webhook(load.places);
    const posted = async (work: Promise<unknown[]>): Promise<number> => {
      const { length } = await work;
      await sleep(SETTLE_MS);
      return length;
    };
    const lived = async (work: ReturnType<LifeLoad['open']>): Promise<number> =>
      (await work).lives.count;
    const sent = async (work: ReturnType<LifeLoad['openSends']>): Promise<number> =>
      (await work).count;
    const backlog = (): Promise<unknown[]> =>
      load.load.closed(Array.from({ length: EVENTS }, event), IN_FLIGHT)();
    const loads: Array<[name: string, work: () => Promise<number>]> = [
      ['idle, 1 s', () => sleep(MEASURE_S * 1_000, MEASURE_S)],
      ['event 20/s', () => posted(load.load.open(event, SLOW_RATE, MEASURE_S))],
      ['event full', () => posted(backlog())],
      ['send 20/s', () => sent(load.openSends(SLOW_RATE, MEASURE_S))],
      ['send full', () => sent(load.closedSends(IN_FLIGHT, MEASURE_S))],
      ['life 20/s', () => lived(load.open(SLOW_RATE, MEASURE_S))],
      ['life full', () => lived(load.closed(IN_FLIGHT, MEASURE_S))],
    ];
    const columns: Column[] = [];
    for (const [name, work] of loads) columns.push(await column(load, name, work));
    print(columns);
    await load.close();
  });
}

const [what = '', bench] = process.argv.slice(2);
if (what === 'life') {
  countLives().catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
} else profile(what, bench);
