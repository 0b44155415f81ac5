// The cost of a send and of an event at several rates, beside their bare chains: the whole mesh and
// both chains run, and one of them is loaded at a time. The idle cost of each process is
// subtracted.
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@bmg/local';
import { startBareSends, aText } from './chain';
import { startBareEvents } from './bare-chain';
import { createLoad, webhook } from './events-load';
import { DRIVERS, HOST, OURS, prepareMesh, startStub, stubSettings } from './events-mesh';
import { measureIdle, type Idle } from './idle';
import { openLoop, quantile, type Shot } from './load';
import { costDuring, openBench } from './processes';
import { shares, tailsDuring } from './tails';

const SHORT = process.env['BENCH_SHORT'] === '1';
const PARTNERS = 10;
const RATES = SHORT ? [25, 300] : [25, 100, 300, 600];
const MEASURE_S = SHORT ? 5 : 20;
const IDLE_S = SHORT ? 5 : 30;
const WARM_UP = { rate: 300, seconds: SHORT ? 5 : 60 };
const QUIET_MS = SHORT ? 2_000 : 10_000;

interface Figures {
  /** CPU seconds per 1,000, without the idle part. */
  cpu_s: number;
  /** Wake-ups for each, without the idle part. */
  wakes: number;
  p50: number;
  p99: number;
}

interface Chain {
  name: string;
  /** The processes whose cost counts. */
  counts(part: string): boolean;
  /** Applies the load, and returns the duration of each item in ms. */
  work(rate: number, seconds: number): Promise<{ count: number; p50: number; p99: number }>;
}

export async function benchCurve(): Promise<void> {
  const bench = await openBench();
  try {
    const setup = await prepareMesh(bench, PARTNERS, stubSettings(bench));
    const { pids, receiver, receiver_url, places, load } = setup;
    startStub(setup);
    const mesh = new Set(Object.keys(pids).filter(OURS));
    const floor_port = await freePort();
    const events_parts = startBareEvents(setup, floor_port, receiver_url);
    const { shot: bare_shot, parts: sends_parts } = await startBareSends(bench, pids);
    await sleep(QUIET_MS);
    const floor = createLoad(`http://${HOST}:${floor_port}`);
    const origin = `http://${HOST}:${bench.port('gateway')}`;
    const shot: Shot = {
      origin,
      path: '/v1/messages/send',
      headers: (index) => {
        const { partner_key, waba_id } = places[index % PARTNERS] as (typeof places)[number];
        return { 'x-partner-key': partner_key, 'x-waba-id': waba_id };
      },
      body: aText,
    };
    const sending =
      (of: Shot): Chain['work'] =>
      async (rate, seconds) => {
        const { count, p50_ms, p99_ms } = await openLoop(of, rate, seconds);
        return { count, p50: p50_ms, p99: p99_ms };
      };
    const posting =
      (to: typeof load): Chain['work'] =>
      async (rate, seconds) => {
        const before = await receiver.count();
        const answered = await to.open(() => webhook(places), rate, seconds);
        await receiver.until(before + answered.length);
        const arrivals = await receiver.report();
        const delays = answered.map(({ id, due_ms }) => (arrivals.get(id) ?? due_ms) - due_ms);
        return {
          count: answered.length,
          p50: quantile(delays, 0.5),
          p99: quantile(delays, 0.99),
        };
      };
    const only = (parts: string[]) => (part: string) => part === 'kafka' || parts.includes(part);
    const chains: Record<'sends' | 'events', [Chain, Chain]> = {
      sends: [
        { name: 'mesh', counts: (part) => mesh.has(part), work: sending(shot) },
        { name: 'bare', counts: (part) => sends_parts.includes(part), work: sending(bare_shot) },
      ],
      events: [
        { name: 'mesh', counts: (part) => mesh.has(part), work: posting(load) },
        { name: 'bare', counts: only(events_parts), work: posting(floor) },
      ],
    };
    for (const pair of Object.values(chains)) {
      for (const chain of pair) await chain.work(WARM_UP.rate, WARM_UP.seconds);
    }
    await sleep(QUIET_MS);
    const idle = await measureIdle(setup, IDLE_S);
    for (const [what, pair] of Object.entries(chains)) {
      console.log(`\n${what}: CPU s per 1,000 and wake-ups of each without the idle part`);
      for (const rate of RATES) {
        const { result: mine, tails } = await tailsDuring(bench, () =>
          measure(pair[0], rate, idle, pids),
        );
        const base = await measure(pair[1], rate, idle, pids);
        printRate(rate, mine, base);
        const waits = what === 'sends' ? tails.send : tails.event;
        console.log(`       the slowest hundredth of the mesh waited for ${shares(waits)}`);
      }
    }
    load.close();
    floor.close();
  } finally {
    await bench.stop();
  }
}

async function measure(
  chain: Chain,
  rate: number,
  idle: Idle,
  pids: Record<string, number>,
): Promise<Figures> {
  const started = performance.now();
  const { result, costs } = await costDuring(pids, () => chain.work(rate, MEASURE_S));
  const periods = (performance.now() - started) / 1_000 / IDLE_S;
  let cpu_s = 0;
  let wakes = 0;
  for (const [part, cost] of Object.entries(costs)) {
    if (DRIVERS.has(part) || !chain.counts(part)) continue;
    cpu_s += cost.cpu_s - (idle[part]?.cpu_s ?? 0) * periods;
    wakes += cost.wakes - (idle[part]?.wakes ?? 0) * periods;
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
