// What the mesh takes without any request: CPU of each process in a second, and memory.
import { setTimeout as sleep } from 'node:timers/promises';
import { byCost, OURS, prepareMesh } from './events-mesh';
import { costDuring, openBench } from './processes';

/** A process that has just started still compiles. */
const SETTLE_S = 60;
const MEASURE_S = 60;

export async function benchIdle(): Promise<void> {
  const bench = await openBench();
  try {
    const { pids, load } = await prepareMesh(bench, 1);
    load.close();
    await sleep(SETTLE_S * 1_000);
    const { costs } = await costDuring(pids, () => sleep(MEASURE_S * 1_000));
    const parts = byCost({ costs }).filter(([name]) => OURS(name));
    const ms = (cpu_s: number): string => ((cpu_s * 1_000) / MEASURE_S).toFixed(1);
    const all = parts.reduce((sum, [, { cpu_s }]) => sum + cpu_s, 0);
    console.log(`CPU of an idle mesh: ${ms(all)} ms a second`);
    for (const [name, { cpu_s, rss_mib }] of parts) {
      console.log(`  ${name.padEnd(12)} ${ms(cpu_s).padStart(5)} ms/s   ${rss_mib.toFixed(0)} MiB`);
    }
  } finally {
    await bench.stop();
  }
}
