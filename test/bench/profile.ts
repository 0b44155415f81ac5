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
import {
  atRate,
  costOf,
  countsForMesh,
  forSeconds,
  inFlight,
  less,
  WORKERS,
  type Counted,
  type Unit,
} from './load';
import { ROOT, SHORT, withMesh, type Mesh } from './mesh';

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

const PARTNERS = Number(process.env['PROFILE_PARTNERS'] ?? 10);
const SLOW_RATE = 20;
const MEASURE_S = SHORT ? 5 : 15;
const WARM_UP_S = SHORT ? 5 : 30;
const EVENTS = SHORT ? 1_000 : 20_000;
const QUIET_MS = SHORT ? 2_000 : 5_000;
const LEAST = 0.01;

/** Counts of each process, by name. */
type Snapshot = Record<string, Counted>;

async function snapshot({ bench }: Mesh): Promise<Snapshot> {
  const taken: Snapshot = {};
  for (const [name, pid] of Object.entries(bench.pids())) {
    if (!countsForMesh(name)) continue;
    const { wakes, cpu_s } = costOf(pid);
    const counts = await bench.parts.get(name)?.counts();
    taken[name] = { 'wake-ups': wakes, 'CPU, ms': cpu_s * 1_000, ...counts };
  }
  return taken;
}

/** Prints a table for each process: its counts by load, divided by the items of the load. */
function print(loads: Record<string, { before: Snapshot; after: Snapshot; items: number }>): void {
  const [first] = Object.values(loads);
  for (const part of Object.keys(first?.after ?? {})) {
    const rows: Record<string, Counted> = {};
    for (const [load, { before, after, items }] of Object.entries(loads)) {
      for (const [what, value] of Object.entries(less(after[part] ?? {}, before[part] ?? {}))) {
        const each = value / items;
        if (each >= LEAST) (rows[what] ??= {})[load] = Number(each.toFixed(2));
      }
    }
    console.log(part);
    console.table(Object.fromEntries(grouped(Object.keys(rows)).map((what) => [what, rows[what]])));
  }
}

/** Sums first, then their parts. */
const grouped = (names: readonly string[]): string[] => [
  ...names.filter((name) => !name.startsWith(' ')),
  ...names.filter((name) => name.startsWith(' ')).sort(),
];

function countLives(): Promise<void> {
  process.env['BENCH_COUNTERS'] = '1';
  return withMesh(PARTNERS, async (mesh) => {
    const full = async (unit: Unit, seconds = MEASURE_S): Promise<number> =>
      (await inFlight(unit, WORKERS, forSeconds(seconds))).count;
    const slow = async (unit: Unit): Promise<number> =>
      (await atRate(unit, SLOW_RATE, MEASURE_S)).count;
    await full(mesh.life, WARM_UP_S);
    const loads: Array<[name: string, work: () => Promise<number>]> = [
      ['idle, 1 s', () => sleep(MEASURE_S * 1_000, MEASURE_S)],
      ['event 20/s', () => slow(mesh.event())],
      ['event full', async () => (await mesh.backlog(EVENTS)).count],
      ['send 20/s', () => slow(mesh.send)],
      ['send full', () => full(mesh.send)],
      ['life 20/s', () => slow(mesh.life)],
      ['life full', () => full(mesh.life)],
    ];
    const taken: Parameters<typeof print>[0] = {};
    for (const [name, work] of loads) {
      await sleep(QUIET_MS);
      const before = await snapshot(mesh);
      const items = await work();
      taken[name] = { before, items, after: await snapshot(mesh) };
      console.error(`  ${name}: ${items}`);
    }
    print(taken);
  });
}

const [what = '', bench] = process.argv.slice(2);
if (what === 'life') {
  countLives().catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
} else profile(what, bench);
