// make profile SERVICE=webhooks: runs the events benchmark with a CPU profile of each process, and
// prints where the time of one of them goes: by package of node_modules, and by file of ours.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERVICE_NAMES } from '@bmg/local';
import { ROOT } from './processes';

const SHOWN = 15;

/** The parts of a .cpuprofile file used here: times in microseconds. */
interface Profile {
  nodes: Array<{ id: number; callFrame: { functionName: string; url: string } }>;
  samples: number[];
  timeDeltas: number[];
}

/** `kafkajs`, `@grpc/grpc-js`, `services/webhooks/dist/delivery/lanes.js`, `(garbage collector)`. */
export function partOf({ functionName, url }: Profile['nodes'][number]['callFrame']): string {
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(url);
  if (inPackage?.[1]) return inPackage[1];
  if (url.startsWith('node:')) return url.split('/')[0] ?? url;
  if (url === '') return functionName;
  return url.replace('file://', '').replace(`${ROOT}/`, '');
}

/** Seconds by part, the largest first; waiting is left out. */
export function topOf(profile: Profile): Array<[part: string, seconds: number]> {
  const parts = new Map(profile.nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]));
  const seconds = new Map<string, number>();
  profile.samples.forEach((id, index) => {
    const part = parts.get(id) ?? 'unknown';
    seconds.set(part, (seconds.get(part) ?? 0) + (profile.timeDeltas[index] ?? 0) / 1e6);
  });
  seconds.delete('(idle)');
  return [...seconds].sort(([, a], [, b]) => b - a);
}

function main(): void {
  const service = process.argv[2] ?? '';
  if (!(SERVICE_NAMES as string[]).includes(service)) {
    throw new Error(`name a service: make profile SERVICE=${SERVICE_NAMES.join('|')}`);
  }
  const dir = mkdtempSync(join(tmpdir(), 'bmg-profile-'));
  const { status } = spawnSync(process.execPath, [join(__dirname, 'main.js'), 'events'], {
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
