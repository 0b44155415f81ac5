// make test-chaos: random but seeded faults on a mesh of processes under traffic of all kinds, then
// a check of every promise against the observations of all parties. A seed always gives the same
// schedule and traffic.
import { randomInt } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pidOf, RUN_DIR, runningIn, SERVICE_NAMES } from '@bmg/local';
import { untilHealthy } from './ask';
import { collect, restartQuietly, type Collected } from './collect';
import { ENGINES, FAULTS, runFault } from './faults';
import type { FaultSpan } from './history';
import { planFaults, type Planned } from './schedule';
import { openStage, type Stage } from './stage';
import { startTraffic, type Traffic } from './traffic';

const HELP = `make test-chaos [SECONDS=3600] [SEED=4711] [FAULTS='kill -9,clock step']

Runs faults on a mesh with engines of its own for SECONDS, then checks each promise of
deploy/ARCHITECTURE.md. Without SEED it draws one and prints it. Ctrl-C ends the faults early and
checks the run so far; a second one stops it without a check. FAULTS limits the faults to some of:
  ${FAULTS.map(({ name }) => name).join('\n  ')}
Ends with 1 if a promise was broken, and keeps the folder with the histories and logs.`;

const HOUR_S = 3_600;
const SECONDS_MIN = 20;
const PROGRESS_MS = 10_000;
const HEALTHY_LIMIT_MS = 120_000;
const SHOWN_VIOLATIONS = 10;

interface Run {
  stage: Stage;
  traffic: Traffic;
  spans: FaultSpan[];
  running: Set<string>;
  began_ms: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: String(HOUR_S) },
      seed: { type: 'string', default: '' },
      faults: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(HELP);
  const seconds = Number(values.seconds);
  const seed = values.seed === '' ? randomInt(1, 1_000_000) : Number(values.seed);
  if (!Number.isInteger(seconds) || seconds < SECONDS_MIN || !Number.isInteger(seed)) {
    throw new Error(`SECONDS must be at least ${SECONDS_MIN}, SEED a whole number`);
  }
  const dir = join(RUN_DIR, `chaos-${seed}-${process.pid}`);
  mkdirSync(dir, { recursive: true });
  console.log(`SEED=${seed} SECONDS=${seconds}: ${dir}`);
  const stage = await openStage(dir);
  const { stop, end } = onceStopped(stage);
  try {
    const kinds = kindsFor(stage, values.faults.split(',').filter(Boolean));
    const planned = planFaults(seed, seconds * 1_000, kinds);
    writeFileSync(join(dir, 'schedule.json'), JSON.stringify(planned, null, 1));
    const { traffic, ...seen } = await play(stage, { seed, planned, run_ms: seconds * 1_000, end });
    const collected = await collect(stage, traffic, seen, restartQuietly(stage));
    writeFileSync(join(dir, 'history.json'), JSON.stringify(collected.history));
    const isKept = report(collected, { seed, seconds, traffic, planned });
    await stop();
    if (isKept) rmSync(dir, { recursive: true, force: true });
    else {
      console.log(`histories and logs: ${dir}`);
      process.exitCode = 1;
    }
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The first signal ends the faults, so that the run so far is checked; the second one stops the
 * mesh at once.
 */
function onceStopped(stage: Stage): { stop: () => Promise<void>; end: AbortSignal } {
  const ending = new AbortController();
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stage.stop());
  const interrupted = (signal: NodeJS.Signals): void => {
    if (!ending.signal.aborted) {
      console.log(`${signal}: ending the faults; once more stops without a check`);
      return ending.abort();
    }
    console.log(`${signal}: stopping`);
    continueAll(stage);
    void stop().finally(() => process.exit(1));
  };
  process.on('SIGINT', interrupted).on('SIGTERM', interrupted);
  return { stop, end: ending.signal };
}

function kindsFor(stage: Stage, wanted: string[]): typeof FAULTS {
  const unknown = wanted.filter((name) => !FAULTS.some((fault) => fault.name === name));
  if (unknown.length > 0) throw new Error(`unknown fault ${unknown.join(', ')}: see --help`);
  return FAULTS.filter(({ name, missing }) => {
    if (wanted.length > 0 && !wanted.includes(name)) return false;
    const why = missing?.(stage);
    if (why !== undefined) console.log(`skipped: ${name} (${why})`);
    return why === undefined;
  });
}

async function play(
  stage: Stage,
  {
    seed,
    planned,
    run_ms,
    end,
  }: { seed: number; planned: Planned[]; run_ms: number; end: AbortSignal },
): Promise<Pick<Run, 'traffic' | 'spans'> & { unhealthy: string | null }> {
  const run: Run = {
    stage,
    traffic: startTraffic(stage, seed),
    spans: [],
    running: new Set(),
    began_ms: stage.now(),
  };
  const progress = setInterval(() => showProgress(run), PROGRESS_MS);
  try {
    const last = new Map<string, Promise<void>>();
    const sinceBegin = (): number => stage.now() - run.began_ms;
    const until = (at_ms: number): Promise<void> =>
      sleep(Math.max(0, at_ms - sinceBegin()), undefined, { signal: end }).catch(() => undefined);
    for (const one of planned) {
      await until(one.at_ms);
      if (end.aborted) break;
      const before = last.get(one.target) ?? Promise.resolve();
      last.set(
        one.target,
        before.then(() => inject(run, one)),
      );
    }
    await until(run_ms);
    await Promise.all(last.values());
    await endFaults(stage);
    const unhealthy = await untilHealthy(stage.mesh.base_url, HEALTHY_LIMIT_MS);
    await run.traffic.stop();
    return { ...run, unhealthy };
  } finally {
    clearInterval(progress);
  }
}

async function inject({ stage, spans, running }: Run, one: Planned): Promise<void> {
  const shown = `${one.name} ${one.target}`;
  const span = { name: one.name, target: one.target, from_ms: stage.now(), to_ms: Infinity };
  spans.push(span);
  running.add(shown);
  try {
    await runFault(stage, one);
  } catch (error) {
    // Another fault prevents it, for example a stopped engine: endFaults() starts the missing
    // processes.
    console.log(`  ${shown}: ${String(error).split('\n')[0]}`);
  }
  span.to_ms = stage.now();
  running.delete(shown);
}

/** Lets a process continue that a fault may have stopped. */
function continueAll({ mesh }: Stage): void {
  for (const name of runningIn(mesh.dir)) {
    const pid = pidOf(name, mesh.dir);
    if (pid !== undefined) process.kill(pid, 'SIGCONT');
  }
}

/** Ends the remaining faults. */
async function endFaults(stage: Stage): Promise<void> {
  const { mesh, links, faulty } = stage;
  for (const link of Object.values(links)) link.set(undefined);
  faulty.behave(undefined);
  continueAll(stage);
  await mesh.emulator.clearFaults();
  await mesh.emulator.behaviour({ duplicate: 0, reorder: false });
  for (const name of ENGINES) {
    if (pidOf(name, mesh.dir) === undefined) await mesh.startEngine(name);
  }
  for (const name of SERVICE_NAMES) {
    if (pidOf(name, mesh.dir) !== undefined) continue;
    // Every fault restarts the processes that it has stopped: this one ended by itself, or did not
    // start.
    console.log(`  ${name} does not run: starting it`);
    await mesh.start(name);
  }
}

function showProgress({ stage, traffic, running, began_ms }: Run): void {
  const count = (outcome: string): number =>
    traffic.sends.filter((one) => one.outcome === outcome).length;
  const posts = stage.webhooks.filter(({ status }) => status === 200).length;
  console.log(
    `${String(Math.round((stage.now() - began_ms) / 1_000)).padStart(5)} s  ` +
      `sends ${count('ok')} ok, ${count('fail')} refused, ${count('info')} unknown; ` +
      `webhooks ${posts} of ${stage.webhooks.length} accepted; arrivals ${stage.arrivals.length}; ` +
      `faults: ${[...running].join(', ') || 'none'}`,
  );
}

interface Shown {
  seed: number;
  seconds: number;
  traffic: Traffic;
  planned: Planned[];
}

/** Prints the verdicts; true if every promise was kept. */
function report({ verdicts, settled_ms }: Collected, { seed, ...run }: Shown): boolean {
  const counts = new Map<string, number>();
  for (const { name } of run.planned) counts.set(name, (counts.get(name) ?? 0) + 1);
  console.log(`\nfaults: ${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}`);
  console.log(
    `traffic: ${run.traffic.sends.length} sends, ${run.traffic.broadcasts.size} broadcasts, ` +
      `${run.traffic.changes.length} changes, ${run.traffic.reads} reads; settled after ${Math.round(settled_ms / 1_000)} s`,
  );
  const width = Math.max(...verdicts.map(({ promise }) => promise.length));
  const row = (cells: Array<string | number>): string =>
    `${String(cells[0]).padEnd(width)}  ${cells
      .slice(1)
      .map((cell) => String(cell).padStart(12))
      .join('')}`;
  console.log(`\n${row(['promise', 'checked', 'violations', 'unknown'])}`);
  for (const { promise, checked, violations, unknown } of verdicts) {
    console.log(row([promise, checked, violations.length, unknown]));
  }
  const broken = verdicts.filter(({ violations }) => violations.length > 0);
  for (const { promise, violations } of broken) {
    console.log(`\nbroken: ${promise}`);
    for (const violation of violations.slice(0, SHOWN_VIOLATIONS)) console.log(`  ${violation}`);
  }
  const outcome = broken.length === 0 ? 'every promise was kept' : `${broken.length} were broken`;
  console.log(`\nSEED=${seed} SECONDS=${run.seconds}: ${outcome}`);
  return broken.length === 0;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
