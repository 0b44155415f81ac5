// What a load costs each process and what its slowest part waits for, and the words for both.
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile, webhook } from './load';
import { HOST, SETTLE_MS, type Setup } from './mesh';
import { costDuring, type Bench, type Cost } from './processes';

export const WORKERS = 64;

export interface Throughput {
  events: number;
  seconds: number;
  costs: Record<string, Cost>;
  /** Deliveries that went through the store, by reason; a healthy run stores none. */
  stored: Record<string, number>;
}

/** Posts all `events` as fast as they are accepted, until the last one has arrived. */
export async function throughput(setup: Setup, events: number, items = 1): Promise<Throughput> {
  const { load, places } = setup;
  const webhooks = Array.from({ length: events / items }, () => webhook(places, items));
  const post = load.closed(webhooks, WORKERS);
  return untilArrived(setup, async () => {
    const answered = await post();
    const refused = answered.filter(({ status }) => status !== 200).length;
    if (refused > 0) throw new Error(`${refused} webhooks were refused`);
    return events;
  });
}

/** Runs `work`, which returns how many events it had accepted, until they have arrived. */
export async function untilArrived(setup: Setup, work: () => Promise<number>): Promise<Throughput> {
  const { receiver, pids } = setup;
  const before = await receiver.count();
  const stored_before = await storedOf(setup);
  const started = performance.now();
  const { result: events, costs } = await costDuring(pids, async () => {
    const accepted = await work();
    await receiver.until(before + accepted);
    return accepted;
  });
  await receiver.report();
  const seconds = (performance.now() - started) / 1_000;
  return { events, seconds, costs, stored: grown(await storedOf(setup), stored_before) };
}

const metricsOf = async (bench: Bench, name: string): Promise<string> =>
  (await fetch(`http://${HOST}:${bench.port(`${name}-metrics`)}/metrics`)).text();

/** The values of a metric by its label, which is the pattern's first group. */
const byLabel = (page: string, line: RegExp): Record<string, number> =>
  Object.fromEntries([...page.matchAll(line)].map(([, label, sum]) => [label, Number(sum)]));

const grown = (
  after: Record<string, number>,
  before: Record<string, number>,
): Record<string, number> =>
  Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  );

const STORED = /^webhook_deliveries_stored_total\{reason="(\w+)"\} (\d+)/gm;

/** Deliveries that webhooks has written to the store since its start, by reason. */
const storedOf = async ({ bench }: Setup): Promise<Record<string, number>> =>
  byLabel(await metricsOf(bench, 'webhooks'), STORED);

export function storedText({ stored }: Throughput): string {
  const reasons = Object.entries(stored).filter(([, count]) => count > 0);
  return reasons.map(([reason, count]) => `   stored: ${reason} ${count}`).join('');
}

/** The parts of a run that are not the mesh or its engines. */
export const DRIVERS = new Set(['driver', 'receiver', 'emulator', 'stub']);
export const OURS = (name: string): boolean => !DRIVERS.has(name);
export const perThousand = ({ costs, events }: Throughput, name: string): number =>
  ((costs[name]?.cpu_s ?? 0) / events) * 1_000;
export const rateOf = ({ events, seconds }: Throughput): number => events / seconds;
export const cpuOf = (run: Throughput): number =>
  Object.keys(run.costs)
    .filter(OURS)
    .reduce((sum, part) => sum + perThousand(run, part), 0);
export const byCost = (costs: Record<string, Cost>): Array<[string, Cost]> =>
  Object.entries(costs).sort(([, a], [, b]) => b.cpu_s - a.cpu_s);

/** Less CPU than this for 1,000 is not printed. */
export const REPORT_FROM_S = 0.002;

export interface Delays {
  p50: number;
  p99: number;
  missing: number;
}

export const delayText = ({ p50, p99, missing }: Delays): string =>
  `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, missing ${missing}`;

/**
 * Posts at a rate, and measures from each 200 of the ingress to the arrival of its event: for all
 * places, or for those that are `wanted`.
 */
export async function delaysAt(
  { load, receiver, places }: Setup,
  rate: number,
  seconds: number,
  wanted: (place: number) => boolean = () => true,
): Promise<Delays> {
  const posted = await load.open(() => webhook(places), rate, seconds);
  await sleep(SETTLE_MS);
  const arrivals = await receiver.report();
  const answered = posted.filter(({ place }) => wanted(place));
  const found = answered.flatMap(({ id, at_ms }) => {
    const arrived = arrivals.get(id);
    // An event may arrive before its 200 is read here.
    return arrived === undefined ? [] : [Math.max(0, arrived - at_ms)];
  });
  return {
    p50: quantile(found, 0.5),
    p99: quantile(found, 0.99),
    missing: answered.length - found.length,
  };
}

export interface Idle {
  seconds: number;
  costs: Record<string, Cost>;
}

/** The cost of each process in `seconds` without a request. */
export async function measureIdle(pids: Record<string, number>, seconds: number): Promise<Idle> {
  const { costs } = await costDuring(pids, () => sleep(seconds * 1_000));
  return { seconds, costs };
}

/** The cost of a process in a load that took `seconds`, without the idle part. */
export function withoutIdle(
  { costs, ...idle }: Idle,
  name: string,
  cost: Cost,
  seconds: number,
): Cost {
  const periods = seconds / idle.seconds;
  const { cpu_s = 0, wakes = 0 } = costs[name] ?? {};
  return { ...cost, cpu_s: cost.cpu_s - cpu_s * periods, wakes: cost.wakes - wakes * periods };
}

export function printIdle({ costs, seconds }: Idle): void {
  const parts = byCost(costs).filter(([name]) => OURS(name));
  const ms = (cpu_s: number): string => ((cpu_s * 1_000) / seconds).toFixed(1);
  const all = parts.reduce((sum, [, { cpu_s }]) => sum + cpu_s, 0);
  console.log(`CPU without a request: ${ms(all)} ms a second; wake-ups a second of each process`);
  for (const [name, { cpu_s, wakes, rss_mib }] of parts) {
    console.log(
      `  ${name.padEnd(12)} ${ms(cpu_s).padStart(5)} ms/s   ${(wakes / seconds).toFixed(0).padStart(5)}   ${rss_mib.toFixed(0)} MiB`,
    );
  }
}

/** Seconds by what was waited for. */
type Waits = Record<string, number>;

/** What the slowest hundredth of the sends and of the events waited for. */
export interface Tails {
  send: Waits;
  event: Waits;
  /** Seconds of collections of each process. */
  collections: Waits;
}

const SEND =
  /^http_server_slowest_wait_seconds_sum\{http_route="\/messages\/send",waited_for="(\w+)"\} (\S+)/gm;
const EVENT = /^webhook_slowest_wait_seconds_sum\{waited_for="(\w+)"\} (\S+)/gm;
const COLLECTION = /^nodejs_gc_duration_seconds_sum\{kind="(\w+)"\} (\S+)/gm;
const OF_TAILS = ['gateway', 'messaging', 'webhooks', 'fanout'];

const total = (waits: Waits): number => Object.values(waits).reduce((sum, one) => sum + one, 0);

async function readTails(bench: Bench): Promise<Tails> {
  const pages = new Map<string, string>();
  for (const name of OF_TAILS) pages.set(name, await metricsOf(bench, name));
  return {
    send: byLabel(pages.get('gateway') ?? '', SEND),
    event: byLabel(pages.get('webhooks') ?? '', EVENT),
    collections: Object.fromEntries(
      [...pages].map(([name, page]) => [name, total(byLabel(page, COLLECTION))]),
    ),
  };
}

/** Returns the waits during `work`. */
export async function tailsDuring<T>(
  bench: Bench,
  work: () => Promise<T>,
): Promise<{ result: T; tails: Tails }> {
  const before = await readTails(bench);
  const result = await work();
  const after = await readTails(bench);
  const tails = {
    send: grown(after.send, before.send),
    event: grown(after.event, before.event),
    collections: grown(after.collections, before.collections),
  };
  return { result, tails };
}

const LEAST_SHARE = 0.01;

/** Shares of the whole wait, the largest first. */
export function shares(waits: Waits): string {
  const all = total(waits);
  if (all === 0) return 'none was slow';
  return Object.entries(waits)
    .filter(([, one]) => one / all >= LEAST_SHARE)
    .sort(([, one], [, other]) => other - one)
    .map(([what, one]) => `${what} ${((one / all) * 100).toFixed(0)} %`)
    .join(', ');
}
