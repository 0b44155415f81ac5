// The cost of a send and of an event at several rates, beside their bare chains: the whole mesh and
// both chains run, and one of them is loaded at a time. The idle cost of each process is
// subtracted. A benchmark of its own is the cost of the mesh without any request.
import { setTimeout as sleep } from 'node:timers/promises';
import { openLoop, quantile, sendShot, webhook, type Load, type Shot } from './load';
import {
  DRIVERS,
  measureIdle,
  OURS,
  printIdle,
  shares,
  tailsDuring,
  withoutIdle,
  type Idle,
} from './measure';
import { prepareMesh, startBareEvents, startBareSends, type Setup } from './mesh';
import { costDuring, withBench } from './processes';

const SHORT = process.env['BENCH_SHORT'] === '1';
const PARTNERS = 10;
const RATES = SHORT ? [25, 300] : [25, 100, 300, 600];
const MEASURE_S = SHORT ? 5 : 20;
const IDLE_S = SHORT ? 5 : 30;
const WARM_UP = { rate: 300, seconds: SHORT ? 5 : 60 };
const QUIET_MS = SHORT ? 2_000 : 10_000;
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

export const benchCurve = (): Promise<void> =>
  withBench(async (bench) => {
    const setup = await prepareMesh(bench, { partners: PARTNERS, stub: 'silent' });
    const { pids, places, load } = setup;
    const mesh = new Set(Object.keys(pids).filter(OURS));
    const bare_events = await startBareEvents(setup);
    Object.assign(pids, bare_events.pids);
    const bare_sends = await startBareSends(setup);
    await sleep(QUIET_MS);
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
      for (const chain of pair) await chain.work(WARM_UP.rate, WARM_UP.seconds);
    }
    await sleep(QUIET_MS);
    const idle = await measureIdle(pids, IDLE_S);
    for (const [what, [ours, bare]] of Object.entries(chains)) {
      console.log(`\n${what}: CPU s per 1,000 and wake-ups of each without the idle part`);
      for (const rate of RATES) {
        const { result: mine, tails } = await tailsDuring(bench, () =>
          measure(ours, rate, idle, pids),
        );
        printRate(rate, mine, await measure(bare, rate, idle, pids));
        const waits = what === 'sends' ? tails.send : tails.event;
        console.log(`       the slowest hundredth of the mesh waited for ${shares(waits)}`);
      }
    }
    load.close();
    bare_events.load.close();
  });

async function measure(
  chain: Chain,
  rate: number,
  idle: Idle,
  pids: Record<string, number>,
): Promise<Figures> {
  const started = performance.now();
  const { result, costs } = await costDuring(pids, () => chain.work(rate, MEASURE_S));
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
export const benchIdle = (): Promise<void> =>
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
