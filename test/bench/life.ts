// The whole life of a message, as a partner experiences it: a send, the webhooks of its three
// statuses, their events at the receiver, and the records of all. All eight services as `make up`
// starts them, ten partners.
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareLives, type LifeLoad, type Lives, type LoadOfLives } from './lives';
import { spread } from './load';
import { byCost, measureIdle, OURS, printIdle, shares, withoutIdle, type Idle } from './measure';
import { SETTLE_MS } from './mesh';
import { withBench } from './processes';

const SHORT = process.env['BENCH_SHORT'] === '1';
const PARTNERS = 10;
const WARM_UP_S = SHORT ? 5 : 60;
const MEASURE_S = SHORT ? 5 : 15;
const ROUNDS = SHORT ? 1 : 3;
const IN_FLIGHT = [20, 64];
const RATES = [50, 150];
const IDLE_S = SHORT ? 5 : 30;
/** Requests of the load that has just ended, and deliveries that are still recorded. */
const QUIET_MS = SHORT ? 2_000 : 20_000;

export const benchLife = (): Promise<void> =>
  withBench(async (bench) => {
    const load = await prepareLives(bench, PARTNERS);
    await sleep(SETTLE_MS);
    tell('first lives, 20 in flight', [await load.closed(IN_FLIGHT[0] as number, MEASURE_S)]);
    await load.closed(IN_FLIGHT[1] as number, WARM_UP_S);
    const loads = loadsOf(load).map((one) => ({ ...one, runs: [] as Lives[] }));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { work, runs } of loads) runs.push(await work());
    }
    for (const { name, runs } of loads) tell(name, runs);
    for (const { name, runs } of loads) printParts(name, runs.at(-1) as Lives);
    await sleep(QUIET_MS);
    const idle = await measureIdle(load.pids, IDLE_S);
    printIdle(idle);
    await benchFloor(load, idle);
    await load.close();
  });

const loadsOf = (load: LoadOfLives) => [
  ...IN_FLIGHT.map((count) => ({
    name: `${count} in flight`,
    work: () => load.closed(count, MEASURE_S),
  })),
  ...RATES.map((rate) => ({ name: `${rate} /s`, work: () => load.open(rate, MEASURE_S) })),
];

/**
 * Sends the loads through the bare chains, without the idle part of the mesh that runs beside them.
 */
async function benchFloor(load: LifeLoad, idle: Idle): Promise<void> {
  const floor = await load.startFloor();
  await floor.closed(IN_FLIGHT[1] as number, WARM_UP_S / 2);
  console.log('\nThe floor: the bare chains of a send and of three events, which store nothing');
  for (const { name, work } of loadsOf(floor)) {
    const runs: Lives[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const started = performance.now();
      const run = await work();
      const seconds = (performance.now() - started) / 1_000;
      const costs = Object.entries(run.costs)
        .filter(([part]) => part === 'kafka' || floor.parts.includes(part))
        .map(([part, cost]) => [part, withoutIdle(idle, part, cost, seconds)]);
      runs.push({ ...run, costs: Object.fromEntries(costs) });
    }
    tell(name, runs);
  }
}

const perLife = (
  { lives, costs }: Lives,
  part: string,
  take: 'cpu_s' | 'wakes' | 'queued_s',
): number => (costs[part]?.[take] ?? 0) / Math.max(1, lives.count);

const ofMesh = (run: Lives, take: 'cpu_s' | 'wakes'): number =>
  Object.keys(run.costs)
    .filter(OURS)
    .reduce((sum, part) => sum + perLife(run, part, take), 0);

function tell(name: string, runs: Lives[]): void {
  const of = (take: (run: Lives) => number, digits: number): string =>
    spread(runs.map(take), digits);
  const missing = runs.reduce((sum, { sends, lives }) => sum + sends.failed + lives.failed, 0);
  const unread = runs.reduce((sum, run) => sum + run.unread, 0);
  console.log(
    `${name.padEnd(26)} ${of(({ lives }) => lives.per_second, 0)} /s   ` +
      `${of((run) => ofMesh(run, 'cpu_s') * 1_000, 2)} CPU s per 1,000   ` +
      `${of((run) => ofMesh(run, 'wakes'), 0)} wake-ups each   missing ${missing}, unread ${unread}\n` +
      `  life p50 ${of(({ lives }) => lives.p50_ms, 1)} ms, p99 ${of(({ lives }) => lives.p99_ms, 1)} ms   ` +
      `send p50 ${of(({ sends }) => sends.p50_ms, 1)} ms, p99 ${of(({ sends }) => sends.p99_ms, 1)} ms`,
  );
}

const REPORT_FROM_S = 0.005;

function printParts(name: string, run: Lives): void {
  console.log(`\n${name}: the slowest hundredth of the sends waited for ${shares(run.tails.send)}`);
  console.log(`${' '.repeat(name.length)}  and of the events for ${shares(run.tails.event)}`);
  console.log('CPU seconds per 1,000 lives, of them collections, and for a core; wake-ups; memory');
  for (const [part, { rss_mib }] of byCost(run.costs)) {
    const cpu_s = perLife(run, part, 'cpu_s') * 1_000;
    if (cpu_s < REPORT_FROM_S) continue;
    const wakes = perLife(run, part, 'wakes');
    const queued_s = perLife(run, part, 'queued_s') * 1_000;
    const collections = (run.tails.collections[part] ?? 0) / Math.max(1, run.lives.count);
    console.log(
      `  ${part.padEnd(12)} ${cpu_s.toFixed(3)} s ${(collections * 1_000).toFixed(3)} ${queued_s.toFixed(3)}   ${wakes.toFixed(1).padStart(6)}   ${rss_mib.toFixed(0)} MiB`,
    );
  }
}
