// make bench: measures the mesh and its floor, the bare chains, in the same run.
// `node main.js send` runs one benchmark. Those of sends and of lives are here.
import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { benchEvents, benchHot, benchScale, benchStored } from './events';
import {
  atRate,
  countsForMesh,
  forSeconds,
  inFlight,
  measure,
  measureIdle,
  rateOf,
  tell,
  withoutIdle,
  WORKERS,
  type Done,
  type Run,
  type Unit,
} from './load';
import { ROOT, SENDS, SHORT, startFloor, startMesh, withBench, withMesh, type Path } from './mesh';

const PARTNERS = 10;
const IDLE_S = SHORT ? 5 : 30;
const QUIET_MS = SHORT ? 2_000 : 20_000;

const LIFE = {
  warm_up_s: SHORT ? 5 : 60,
  measure_s: SHORT ? 5 : 15,
  rounds: SHORT ? 1 : 3,
};
const inFlightFor =
  (count: number, seconds = LIFE.measure_s) =>
  (unit: Unit): Promise<Done> =>
    inFlight(unit, count, forSeconds(seconds));
const perSecond =
  (rate: number) =>
  (unit: Unit): Promise<Done> =>
    atRate(unit, rate, LIFE.measure_s);
const LIFE_LOADS = {
  '20 in flight': inFlightFor(20),
  '64 in flight': inFlightFor(WORKERS),
  '50 /s': perSecond(50),
  '150 /s': perSecond(150),
};

/** Runs each load in rounds. */
async function livesOf(
  path: Path & { life: Unit },
  after: () => Promise<void> = () => Promise.resolve(),
): Promise<Run[][]> {
  const runs = Object.values(LIFE_LOADS).map((): Run[] => []);
  for (let round = 0; round < LIFE.rounds; round += 1) {
    for (const [at, load] of Object.values(LIFE_LOADS).entries()) {
      runs[at]?.push(await measure(path, () => load(path.life)));
      await after();
    }
  }
  return runs;
}

/**
 * The whole life of a message, as a partner experiences it: a send, the webhooks of its three
 * statuses, their events at the receiver, and the records of all; beside the bare chains of a send
 * and of three events, without the idle part of the mesh that runs beside them.
 */
const benchLife = (): Promise<void> =>
  withMesh(PARTNERS, async (mesh) => {
    tell('first lives, 20 in flight', [await measure(mesh, () => inFlightFor(20)(mesh.life))]);
    await inFlightFor(WORKERS, LIFE.warm_up_s)(mesh.life);
    await mesh.recorded();
    const runs = await livesOf(mesh, mesh.recorded);
    await sleep(QUIET_MS);
    const idle = await measureIdle(mesh, IDLE_S);
    tell('seconds without a request', [idle]);
    const floor = await startFloor(mesh);
    await inFlightFor(WORKERS, LIFE.warm_up_s / 2)(floor.life);
    const bare = (await livesOf(floor)).map((all) => all.map((run) => withoutIdle(run, idle)));
    for (const [at, name] of Object.keys(LIFE_LOADS).entries()) {
      tell(`floor, ${name}`, bare[at] as Run[]);
      tell(`mesh, ${name}`, runs[at] as Run[], bare[at]);
    }
  });

const SEND = { warm_up_s: 4, measure_s: 10, rounds: 3 };

/**
 * Compares the send path with the bare chain (koa → one unary gRPC call → undici → the same stub),
 * and with that chain when it counts each request in Redis and stores a record of it, in one run.
 */
const benchSend = (): Promise<void> =>
  withMesh(1, async (mesh) => {
    const paths = {
      'bare chain': await startFloor(mesh, 'bare', SENDS),
      'bare chain with Redis and MongoDB': await startFloor(mesh, 'storing', SENDS),
      mesh,
    };
    const rows = Object.entries(paths).map(([name, path]) => ({ name, path, runs: [] as Run[] }));
    for (let round = 0; round < SEND.rounds; round += 1) {
      for (const { path, runs } of rows) {
        await inFlightFor(WORKERS, round === 0 ? SEND.warm_up_s : 1)(path.send);
        runs.push(await measure(path, () => inFlightFor(WORKERS, SEND.measure_s)(path.send)));
      }
    }
    const [bare] = rows.map(({ runs }) => runs);
    for (const { name, runs } of rows) tell(`${name}, 64 in flight`, runs, bare);
    const base: Run[] = [];
    for (const { name, path, runs } of rows) {
      const half = Math.max(...runs.map(rateOf)) / 2;
      const run = await measure(path, () => atRate(path.send, half, SEND.measure_s));
      tell(`${name}, at half of its full load`, [run], base);
      if (base.length === 0) base.push(run);
    }
  });

const CURVE = {
  rates: SHORT ? [25, 300] : [25, 100, 300, 600],
  measure_s: SHORT ? 5 : 20,
  warm_up: { rate: 300, seconds: SHORT ? 5 : 60 },
};

/**
 * The cost of a send and of an event at several rates, beside their bare chains: the whole mesh and
 * both chains run, and one of them is loaded at a time. The idle cost of each process is
 * subtracted.
 */
const benchCurve = (): Promise<void> =>
  withMesh(PARTNERS, async (mesh) => {
    const floor = await startFloor(mesh);
    const units = {
      sends: ({ send }: Path) => send,
      events: ({ event }: Path) => event(),
    };
    for (const unitOf of Object.values(units)) {
      const { rate, seconds } = CURVE.warm_up;
      for (const path of [floor, mesh]) await atRate(unitOf(path), rate, seconds);
    }
    await sleep(QUIET_MS);
    const idle = [await measureIdle(floor, IDLE_S), await measureIdle(mesh, IDLE_S)] as const;
    for (const [what, unitOf] of Object.entries(units)) {
      const at = async (path: Path, rate: number, rest: Run): Promise<Run> => {
        const load = () => atRate(unitOf(path), rate, CURVE.measure_s);
        return withoutIdle(await measure(path, load), rest);
      };
      for (const rate of CURVE.rates) {
        const bare = await at(floor, rate, idle[0]);
        tell(`floor of ${what}, ${rate} /s without the idle part`, [bare]);
        tell(`${what}, ${rate} /s without the idle part`, [await at(mesh, rate, idle[1])], [bare]);
      }
    }
  });

/** A process that has just started still compiles. */
const IDLE_MESH = SHORT ? { settle_s: 20, measure_s: 10 } : { settle_s: 60, measure_s: 60 };

/** The cost of a second without any request: of the engines by themselves, then of the mesh. */
const benchIdle = (): Promise<void> =>
  withBench(async (bench) => {
    const idleOf = async (name: string): Promise<void> => {
      await sleep(IDLE_MESH.settle_s * 1_000);
      tell(name, [await measureIdle({ bench, counts: countsForMesh }, IDLE_MESH.measure_s)]);
    };
    await idleOf('engines, seconds without a request');
    const { receiver } = await startMesh(bench, 1);
    await idleOf('mesh, seconds without a request').finally(receiver.close);
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

async function main(): Promise<void> {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !(name in BENCHES));
  if (unknown.length > 0) {
    const names = Object.keys(BENCHES).join(', ');
    throw new Error(`unknown benchmark ${unknown.join(', ')}: choose from ${names}`);
  }
  const commit = String(execFileSync('git', ['describe', '--always', '--dirty'], { cwd: ROOT }));
  const machine = `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 1024 ** 3)} GiB`;
  const day = new Date().toISOString().slice(0, 10);
  console.log(`Commit ${commit.trim()}, ${day}, Node ${process.version}, ${machine}`);
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.log(`\n=== ${name}`);
    await bench();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
