// make profile SERVICE=webhooks [BENCH=events]: runs a benchmark with a CPU profile of each
// process, and prints where the time of one of them goes: by package of node_modules, and by folder
// of ours. What Node does for a package, such as writing to a socket, counts for the package.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SERVICE_NAMES } from '@bmg/local';
import { ROOT } from './processes';

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
export function partOf({ functionName, url }: Node['callFrame']): string | undefined {
  if (RUNTIME.has(functionName)) return functionName;
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(url);
  if (inPackage?.[1]) return inPackage[1];
  if (url === '' || url.startsWith('node:')) return undefined;
  return dirname(url.replace('file://', '').replace(`${ROOT}/`, ''));
}

/** Neither these nor the functions that they call are the work of a service. */
const LEFT_OUT = new Set(['(idle)', 'Module._load']);

/** Seconds by part, the largest first; waiting and the loading of modules are left out. */
export function topOf({ nodes, samples, timeDeltas }: Profile): Array<[string, number]> {
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

function main(): void {
  const service = process.argv[2] ?? '';
  if (!(SERVICE_NAMES as string[]).includes(service)) {
    throw new Error(`name a service: make profile SERVICE=${SERVICE_NAMES.join('|')}`);
  }
  const bench = process.argv[3] ?? BENCH_OF[service] ?? 'events';
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

if (require.main === module) main();
