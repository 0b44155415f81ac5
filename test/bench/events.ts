// Compares the event path of the whole mesh, all eight services as `make up` starts them, with bare
// delivery (undici, keep-alive, HMAC, 64 in flight) in one run. Ten partners with 5,000 customers
// each; this process is the driver, and its share of the machine is printed.
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { appendFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { Agent } from 'undici';
import { inFlight, quantile, spread, webhook } from './load';
import {
  byCost,
  cpuOf,
  delaysAt,
  delayText,
  DRIVERS,
  OURS,
  perThousand,
  rateOf,
  REPORT_FROM_S,
  storedText,
  throughput,
  untilArrived,
  WORKERS,
  type Throughput,
} from './measure';
import { prepareMesh, SETTLE_MS, startBareEvents, type Setup } from './mesh';
import { costDuring, withBench } from './processes';

const PARTNERS = 10;
/** BENCH_LONG=1 runs the hanging receiver for its full time. */
const LONG = process.env['BENCH_LONG'] === '1';
const BACKLOG = Number(process.env['BENCH_EVENTS'] ?? 20_000);
/** The engines' and Node's compilers have done their work by then. */
const WARM_UP = 60_000;
const COLD = 10_000;
const YARDSTICK_POSTS = 20_000;
const RATE_S = 10;
const HANG_S = LONG ? 150 : 15;
const CALM_S = LONG ? 60 : 15;
const OVERLOAD_S = 60;
/** Share of the measured capacity. */
const SOAK_SHARE = 0.7;
const SOAK_MINUTES = 15;

/** Three, for their spread; a comparison of two versions repeats the whole benchmark instead. */
const ROUNDS = process.env['BENCH_RESULT'] === undefined ? 3 : 1;

interface Round {
  once: Throughput;
  twice: Throughput;
  tens: Throughput;
}

export const benchEvents = (): Promise<void> =>
  withBench(async (bench) => {
    const setup = await prepareMesh(bench, { partners: PARTNERS });
    const capacity = await backlogs(setup);
    if (process.env['BENCH_RESULT'] === undefined) {
      for (const items of [1, 10]) await bareChain(setup, items);
    }
    if (process.env['BENCH_SHORT'] === '1') return;
    await overload(setup, capacity);
    await atRates(setup);
    for (const rate of [100, 300]) await oneHangs(setup, rate);
    if (LONG) await soak(setup, capacity);
    setup.load.close();
  });

/** Measures backlogs, in rounds; returns the largest one of single events. */
async function backlogs(setup: Setup): Promise<Throughput> {
  const cold = await throughput(setup, COLD);
  await throughput(setup, WARM_UP);
  const bare = await yardstick(setup.receiver_url);
  console.log(
    `yardstick     ${bare.per_second.toFixed(0).padStart(6)} /s   ${bare.cpu.toFixed(3)} CPU s per 1,000`,
  );
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({
      once: await throughput(setup, BACKLOG),
      twice: await throughput(setup, 2 * BACKLOG),
      tens: await throughput(setup, 2 * BACKLOG, 10),
    });
  }
  const of = (name: keyof Round): Throughput[] => rounds.map((round) => round[name]);
  tell('first events', [cold], bare.per_second);
  tell('whole path', of('once'), bare.per_second);
  tell('twice as many', of('twice'), bare.per_second);
  const longer = rounds.map(({ once, twice }) => twice.seconds / once.seconds);
  console.log(`  twice the backlog takes ${spread(longer, 2)} times as long`);
  tell('10 in a body', of('tens'), bare.per_second);
  const { twice, tens } = rounds.at(-1) as Round;
  tellCosts('one event in a body', twice);
  tellCosts('ten events in a body', tens);
  rounds.forEach(record);
  return twice;
}

/** Runs the libraries without any of our code, beside the mesh, which is idle meanwhile. */
async function bareChain(setup: Setup, items: number): Promise<void> {
  const floor = await startBareEvents(setup);
  await throughput(floor, 2 * BACKLOG, items);
  const run = await throughput(floor, 2 * BACKLOG, items);
  floor.load.close();
  for (const part of floor.parts) await setup.bench.parts.get(part)?.stop('SIGKILL');
  const costs = Object.keys(run.costs).map(
    (name) => `${name} ${perThousand(run, name).toFixed(3)}`,
  );
  console.log(
    `bare chain, ${items} in a body: ${rateOf(run).toFixed(0)} /s   ${cpuOf(run).toFixed(3)} CPU s per 1,000 (${costs.join(', ')})`,
  );
}

async function yardstick(receiver_url: string): Promise<{ per_second: number; cpu: number }> {
  const agent = new Agent({ connections: WORKERS, pipelining: 1 });
  const body = Buffer.from(
    JSON.stringify({ event: 'message.received', data: { text: 'x'.repeat(600) } }),
  );
  const run = async (count: number): Promise<number> => {
    const started = performance.now();
    await inFlight(WORKERS, count, async () => {
      const mac = createHmac('sha256', 'secret').update(body).digest('hex');
      const headers = {
        'content-type': 'application/json',
        'x-service-signature': `sha256=${mac}`,
      };
      const post = { origin: receiver_url, path: '/bare', method: 'POST', headers, body } as const;
      const answer = await agent.request(post);
      await answer.body.dump();
    });
    return (performance.now() - started) / 1_000;
  };
  await run(YARDSTICK_POSTS / 4);
  const before = process.cpuUsage();
  const seconds = await run(YARDSTICK_POSTS);
  const used = process.cpuUsage(before);
  await agent.close();
  const cpu = (used.user + used.system) / 1e6 / (YARDSTICK_POSTS / 1_000);
  return { per_second: YARDSTICK_POSTS / seconds, cpu };
}

function tell(name: string, runs: Throughput[], bare: number): void {
  const rates = runs.map(rateOf);
  const driving = runs.map(
    ({ costs, seconds }) =>
      ([...DRIVERS].reduce((sum, part) => sum + (costs[part]?.cpu_s ?? 0), 0) /
        seconds /
        cpus().length) *
      100,
  );
  const stored = runs.map(storedText).join('');
  console.log(
    `${name.padEnd(13)} ${spread(rates, 0)} /s   ${spread(runs.map(cpuOf), 3)} CPU s per 1,000   ` +
      `${((quantile(rates, 0.5) / bare) * 100).toFixed(0)} % of the yardstick   driver and receiver: ` +
      `${spread(driving, 0)} % of the machine${stored}`,
  );
}

/** Prints the cost of each part, the largest first. */
function tellCosts(what: string, run: Throughput): void {
  const parts = byCost(run.costs);
  console.log(`\nCPU seconds per 1,000 events (${what}), and memory`);
  for (const [name, { rss_mib }] of parts) {
    const cpu = perThousand(run, name);
    if (cpu < REPORT_FROM_S) continue;
    console.log(`  ${name.padEnd(12)} ${cpu.toFixed(3)} s   ${rss_mib.toFixed(0)} MiB`);
  }
  const largest = parts.find(([name]) => OURS(name));
  console.log(`  the largest part is ${largest?.[0] ?? 'unknown'}`);
}

/** Appends the figures to the file that `make bench-compare` reads. */
function record(runs: Round): void {
  const file = process.env['BENCH_RESULT'];
  if (!file) return;
  const figures = Object.entries(runs).map(([name, run]) => [
    name,
    { per_second: rateOf(run), cpu_s: cpuOf(run) },
  ]);
  appendFileSync(file, `${JSON.stringify(Object.fromEntries(figures))}\n`);
}

/** Offers twice the capacity: every accepted event must arrive, at the same cost per event. */
async function overload(setup: Setup, capacity: Throughput): Promise<void> {
  const { load, places } = setup;
  const started = performance.now();
  let offered_s = 0;
  let refused = 0;
  const run = await untilArrived(setup, async () => {
    const answered = await load.open(() => webhook(places), 2 * rateOf(capacity), OVERLOAD_S);
    refused = answered.filter(({ status }) => status !== 200).length;
    offered_s = (performance.now() - started) / 1_000;
    return answered.length - refused;
  });
  console.log(
    `\ntwice the capacity for ${OVERLOAD_S} s: ${rateOf(run).toFixed(0)} /s at ${cpuOf(run).toFixed(3)} CPU s per 1,000 ` +
      `(${(cpuOf(run) / cpuOf(capacity)).toFixed(2)} times the backlog's), drained ${(run.seconds - offered_s).toFixed(1)} s ` +
      `after the last answer, refused ${refused} of ${refused + run.events}${storedText(run)}`,
  );
}

/** Memory must be flat, and every minute's events must have arrived shortly after it. */
async function soak({ load, receiver, places, pids }: Setup, capacity: Throughput): Promise<void> {
  const rate = SOAK_SHARE * rateOf(capacity);
  console.log(`\nsoak at ${rate.toFixed(0)} /s: MiB of each part, and seconds behind`);
  for (let minute = 1; minute <= SOAK_MINUTES; minute += 1) {
    const before = await receiver.count();
    const { result: behind_s, costs } = await costDuring(pids, async () => {
      const answered = await load.open(() => webhook(places), rate, 60);
      const ended = performance.now();
      await receiver.until(before + answered.filter(({ status }) => status === 200).length);
      return (performance.now() - ended) / 1_000;
    });
    await receiver.report();
    const memory = Object.entries(costs).filter(([name]) => OURS(name));
    console.log(
      `  ${String(minute).padStart(2)}  ${memory.map(([name, { rss_mib }]) => `${name} ${rss_mib.toFixed(0)}`).join('  ')}  behind ${behind_s.toFixed(1)} s`,
    );
  }
}

async function atRates(setup: Setup): Promise<void> {
  const { load, receiver, places } = setup;
  const taken = await load.open(() => webhook(places), 660, RATE_S);
  const waits = taken.map(({ at_ms, due_ms }) => at_ms - due_ms);
  console.log(
    `\ningress at 660/s: p50 ${quantile(waits, 0.5).toFixed(1)} ms, p99 ${quantile(waits, 0.99).toFixed(1)} ms, ` +
      `refused ${taken.filter(({ status }) => status !== 200).length}`,
  );
  await sleep(SETTLE_MS);
  await receiver.report();
  const delayed = await delaysAt(setup, 300, RATE_S);
  console.log(`from the ingress's 200 to the receiver at 300/s: ${delayText(delayed)}`);
}

/** Measures the other partners while the receiver of one of ten hangs. */
async function oneHangs(setup: Setup, rate: number): Promise<void> {
  const { receiver } = setup;
  const others = (seconds: number) => delaysAt(setup, rate, seconds, (place) => place !== 0);
  const calm = await others(CALM_S);
  await receiver.hang('/p0');
  const hung = await others(HANG_S);
  await receiver.heal();
  await sleep(SETTLE_MS);
  const healed = await others(CALM_S / 3);
  console.log(
    `one of ten hangs at ${rate}/s: p99 of the others ${calm.p99.toFixed(1)} ms before, ` +
      `${hung.p99.toFixed(1)} ms during (${(hung.p99 / calm.p99).toFixed(2)} times), ` +
      `${healed.p99.toFixed(1)} ms after; p50 ${calm.p50.toFixed(1)} and ${hung.p50.toFixed(1)} ms; ` +
      `missing ${calm.missing + hung.missing + healed.missing}`,
  );
}
