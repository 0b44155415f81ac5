// Starts the parts of a benchmark as separate processes, and measures their CPU and memory.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addressSetting,
  freePort,
  NODE_FLAGS,
  SERVICE_NAMES,
  startEngines,
  type Engines,
} from '@bmg/local';
import { residentMib } from '../testkit/resident-memory';

export const ROOT = resolve(__dirname, '../../..');
/** BENCH_ROOT measures the services of another checkout with this driver (`make bench-compare`). */
const SERVICES_ROOT = process.env['BENCH_ROOT'] ?? ROOT;
const rootOf = (entry: string): string => (entry.startsWith('test/') ? ROOT : SERVICES_ROOT);
const HOST = '127.0.0.1';
const READY_LIMIT_MS = 120_000;
/** BENCH_NODE_FLAGS adds flags of Node, which override those that `make up` uses. */
const FLAGS = [...NODE_FLAGS, ...(process.env['BENCH_NODE_FLAGS']?.split(' ') ?? [])];
const STOP_LIMIT_MS = 15_000;
/** The exit code of a shell's command that a signal ended. */
const INTERRUPTED = 130;
/** Clock ticks per second in /proc/<pid>/stat on every common Linux. */
const TICKS = 100;

export interface Part {
  name: string;
  pid: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** The counts of the process so far, under BENCH_COUNTERS=1 (counters.ts); else nothing. */
  counts(): Promise<Record<string, number>>;
}

export interface Bench {
  engines: Engines;
  env: NodeJS.ProcessEnv;
  port(name: string): number;
  /**
   * `entry` is a compiled file, relative to the root of the repository. A part whose name has no
   * ports gets METRICS_PORT with `extra`.
   */
  start(name: string, entry: string, extra?: NodeJS.ProcessEnv): Part;
  ready(...names: string[]): Promise<void>;
  parts: Map<string, Part>;
}

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
  const ports = new Map<string, number>();
  for (const name of [...SERVICE_NAMES, 'ingress', 'emulator', 'stub']) {
    for (const one of [name, `${name}-metrics`]) ports.set(one, await freePort());
  }
  const port = (name: string): number => ports.get(name) as number;
  const env = settingsOf(engines, port);
  const parts = new Map<string, Part>();
  const start: Bench['start'] = (name, entry, extra = {}) => {
    const own = ports.has(name) && {
      GRPC_PORT: String(port(name)),
      METRICS_PORT: String(port(`${name}-metrics`)),
    };
    const settings = { ...env, ...own, ...extra };
    ports.set(`${name}-metrics`, Number(settings['METRICS_PORT']));
    const part = startPart(name, entry, dir, settings, () => parts.delete(name));
    parts.set(name, part);
    return part;
  };
  const ready: Bench['ready'] = async (...names) => {
    for (const name of names) await untilReady(name, port(`${name}-metrics`), dir);
  };
  const stop = async (): Promise<void> => {
    await Promise.all([...parts.values()].map((part) => part.stop()));
    await engines.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  const interrupted = (): void => void stop().finally(() => process.exit(INTERRUPTED));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    await work({ engines, env, port, start, ready, parts });
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await stop();
  }
}

const settingsOf = (engines: Engines, port: (name: string) => number): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  COUNT_TIMERS: process.env['COUNT_TIMERS'],
  NODE_ENV: 'production',
  // Only this machine reaches the services, so that calls need no certificates.
  GRPC_HOST: HOST,
  MONGO_URL: engines.MONGO_URL,
  KAFKA_BROKERS: engines.KAFKA_BROKERS,
  REDIS_URL: engines.REDIS_URL,
  UPSTREAM_URL: `http://${HOST}:${port('emulator')}`,
  EMULATOR_PORT: String(port('emulator')),
  EMULATOR_WEBHOOK_URL: `http://${HOST}:${port('ingress')}/webhooks/upstream`,
  UPSTREAM_SDK_URL: `http://${HOST}:${port('emulator')}/sdk.js`,
  UPSTREAM_APP_ID: 'app-local',
  UPSTREAM_APP_SECRET: 'app-secret-local',
  UPSTREAM_CONFIG_ID: 'config-local',
  UPSTREAM_VERIFY_TOKEN: 'verify-local',
  PLATFORM_PIN: '000000',
  ENCRYPTION_KEYRING: 'local:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  KEY_PEPPER: 'bench-pepper',
  ALLOW_PRIVATE_URLS: 'true',
  RATE_LIMIT_PER_SEC: '100000',
  PUBLIC_URL: `http://${HOST}:${port('gateway')}`,
  GATEWAY_PORT: String(port('gateway')),
  INGRESS_PORT: String(port('ingress')),
  DRAIN_MS: '0',
  ...Object.fromEntries(
    SERVICE_NAMES.map((name) => [addressSetting(name), `${HOST}:${port(name)}`]),
  ),
});

function startPart(
  name: string,
  entry: string,
  dir: string,
  env: NodeJS.ProcessEnv,
  stopped: () => void,
): Part {
  const log = openSync(join(dir, `${name}.log`), 'a');
  const child: ChildProcess = spawn(
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

async function untilReady(name: string, port: number, dir: string): Promise<void> {
  const until = Date.now() + READY_LIMIT_MS;
  while (Date.now() < until) {
    const ready = await fetch(`http://${HOST}:${port}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return;
    await sleep(50);
  }
  const log = readFileSync(join(dir, `${name}.log`), 'utf8')
    .split('\n')
    .slice(-5)
    .join('\n');
  throw new Error(`${name} did not become ready:\n${log}`);
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
