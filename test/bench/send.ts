// Compares the send path with the bare chain (koa → one unary gRPC call → undici → the same stub),
// and with that chain when it counts each request in Redis and stores a record of it, in one run.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  closedLoop,
  keyOf,
  openLoop,
  sendShot,
  spread,
  type Measured,
  type Place,
  type Shot,
} from './load';
import { WORKERS } from './measure';
import { prepareMesh, startBareSends } from './mesh';
import { costDuring, withBench, type Cost } from './processes';

const HALF_S = 10;
const WARM_UP_S = 4;
const MEASURE_S = 10;
const ROUNDS = 3;
/** Processes that have just started open their connections. */
const SETTLE_MS = 500;
const REPORT_FROM_S = 0.005;

interface Row {
  name: string;
  shot: Shot;
  /** The best round, so that other load on the machine favours none. */
  best: Measured;
  costs: Record<string, Cost>;
  /** The rate of each round. */
  rates: number[];
}

export const benchSend = (): Promise<void> =>
  withBench(async (bench) => {
    const setup = await prepareMesh(bench, {
      partners: 1,
      services: ['onboarding', 'messaging', 'gateway'],
      stub: 'silent',
    });
    const bare = await startBareSends(setup);
    const storing = await startBareSends(setup, 'storing');
    await sleep(SETTLE_MS);
    const { gateway, places } = setup;
    const ours = sendShot(gateway, places);
    const headers = () => ({ ...keyOf(places[0] as Place), 'idempotency-key': randomUUID() });
    const [base, stored, mine, keyed] = (await inTurns(setup.pids, [
      ['bare chain', bare.shot],
      ['and Redis and MongoDB', storing.shot],
      ['gateway', ours],
      ['with an Idempotency-Key', { ...ours, headers }],
    ])) as [Row, Row, Row, Row];
    const halves: Row[] = [];
    for (const row of [base, mine]) {
      const best = await openLoop(row.shot, row.best.per_second / 2, HALF_S);
      halves.push({ ...row, best, rates: [] });
    }
    console.log(`\nSend path, ${WORKERS} requests in flight (target: a ratio of at least 0.60)`);
    printRow(base);
    for (const row of [stored, mine, keyed]) printRow(row, base);
    console.log('each at half of its full load');
    for (const row of halves) printRow(row);
    printCosts([base, stored, mine, keyed]);
  });

/** Measures each in turns, with many requests in flight. */
async function inTurns(
  pids: Record<string, number>,
  shots: ReadonlyArray<readonly [string, Shot]>,
): Promise<Row[]> {
  const rows = new Map<string, Row>();
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const [name, shot] of shots) {
      await closedLoop(shot, WORKERS, round === 1 ? WARM_UP_S : 1);
      const { result, costs } = await costDuring(pids, () => closedLoop(shot, WORKERS, MEASURE_S));
      const known = rows.get(name);
      const rates = [...(known?.rates ?? []), result.per_second];
      const better = !known || result.per_second > known.best.per_second;
      rows.set(name, better ? { name, shot, best: result, costs, rates } : { ...known, rates });
    }
  }
  return [...rows.values()];
}

function printRow({ name, best, rates }: Row, base?: Row): void {
  const { per_second, p50_ms, p99_ms, failed } = best;
  const ratios = rates.map((rate, round) => rate / (base?.rates[round] ?? rate));
  const ratio = base ? `   ratio ${spread(ratios, 2)}` : '';
  console.log(
    `${name.padEnd(24)} ${per_second.toFixed(0).padStart(6)} /s   p50 ${p50_ms.toFixed(1)} ms   p99 ${p99_ms.toFixed(1)} ms   failed ${failed}${ratio}`,
  );
}

function printCosts(rows: readonly Row[]): void {
  console.log('\nCPU seconds per 1,000 sends, and memory');
  for (const { name, best, costs } of rows) {
    for (const [part, { cpu_s, rss_mib }] of Object.entries(costs)) {
      const per_thousand = (cpu_s / best.count) * 1_000;
      if (per_thousand < REPORT_FROM_S || part === 'driver') continue;
      console.log(
        `  ${name.padEnd(24)} ${part.padEnd(14)} ${per_thousand.toFixed(3)} s   ${rss_mib.toFixed(0)} MiB`,
      );
    }
  }
}
