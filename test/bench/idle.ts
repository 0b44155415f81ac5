// The cost of the mesh without any request: CPU and wake-ups of each process per second, and
// memory.
import { setTimeout as sleep } from 'node:timers/promises';
import { byCost, OURS, prepareMesh, type Setup } from './events-mesh';
import { costDuring, openBench, type Cost } from './processes';

const SHORT = process.env['BENCH_SHORT'] === '1';
/** A process that has just started still compiles. */
const SETTLE_S = SHORT ? 20 : 60;
const MEASURE_S = SHORT ? 10 : 60;

export type Idle = Record<string, Cost>;

export async function benchIdle(): Promise<void> {
  const bench = await openBench();
  try {
    const pids = Object.fromEntries(bench.engines.started.map(({ name, pid }) => [name, pid]));
    await sleep(SETTLE_S * 1_000);
    console.log('The engines by themselves');
    printIdle(await measureIdle({ pids }, MEASURE_S), MEASURE_S);
    const setup = await prepareMesh(bench, 1);
    setup.load.close();
    await sleep(SETTLE_S * 1_000);
    printIdle(await measureIdle(setup, MEASURE_S), MEASURE_S);
  } finally {
    await bench.stop();
  }
}

/** The cost of each process in `seconds` without a request. */
export async function measureIdle({ pids }: Pick<Setup, 'pids'>, seconds: number): Promise<Idle> {
  return (await costDuring(pids, () => sleep(seconds * 1_000))).costs;
}

export function printIdle(idle: Idle, seconds: number): void {
  const parts = byCost({ costs: idle }).filter(([name]) => OURS(name));
  const ms = (cpu_s: number): string => ((cpu_s * 1_000) / seconds).toFixed(1);
  const all = parts.reduce((sum, [, { cpu_s }]) => sum + cpu_s, 0);
  console.log(`CPU without a request: ${ms(all)} ms a second; wake-ups a second of each process`);
  for (const [name, { cpu_s, wakes, rss_mib }] of parts) {
    console.log(
      `  ${name.padEnd(12)} ${ms(cpu_s).padStart(5)} ms/s   ${(wakes / seconds).toFixed(0).padStart(5)}   ${rss_mib.toFixed(0)} MiB`,
    );
  }
}
