// The cost of a send with all its consequences: the three webhooks of its statuses, their events,
// and the changes of its record. All eight services as `make up` starts them, ten partners.
import { setTimeout as sleep } from 'node:timers/promises';
import { aText } from './chain';
import {
  cpuOf,
  HOST,
  prepareMesh,
  printCosts,
  rateOf,
  SETTLE_MS,
  startStub,
  stubSettings,
  type Setup,
  type Throughput,
} from './events-mesh';
import { closedLoop, quantile, spread, type Measured, type Shot } from './load';
import { costDuring, openBench } from './processes';

const PARTNERS = 10;
const IN_FLIGHT_OF_PARTNER = 2;
const STATUSES = 3;
const ROUNDS = 3;
const WARM_UP_S = 60;
const MEASURE_S = 15;

interface Run extends Throughput {
  /** Of each partner. */
  sends: Measured[];
}

export async function benchStatuses(): Promise<void> {
  const bench = await openBench();
  try {
    const setup = await prepareMesh(bench, PARTNERS, stubSettings(bench));
    const accounts = setup.places.map((place) => [place.phone_number_id, place.waba_id]);
    startStub(setup, {
      STUB_WEBHOOKS: `http://${HOST}:${bench.port('ingress')}`,
      STUB_ACCOUNTS: JSON.stringify(Object.fromEntries(accounts)),
    });
    await sleep(SETTLE_MS);
    tell('first sends', [await sendFor(setup, MEASURE_S)]);
    await sendFor(setup, WARM_UP_S);
    const runs: Run[] = [];
    for (let round = 0; round < ROUNDS; round += 1) runs.push(await sendFor(setup, MEASURE_S));
    tell('sends', runs);
    printCosts('sends with their statuses', runs.at(-1) as Run);
    setup.load.close();
  } finally {
    await bench.stop();
  }
}

/** Sends for all partners at a time, until the events of all statuses have arrived. */
async function sendFor(setup: Setup, seconds: number): Promise<Run> {
  const { bench, receiver, places, pids } = setup;
  const origin = `http://${HOST}:${bench.port('gateway')}`;
  const shots = places.map(({ partner_key, waba_id }): Shot => ({
    origin,
    path: '/v1/messages/send',
    headers: { 'x-partner-key': partner_key, 'x-waba-id': waba_id },
    body: aText,
  }));
  const started = performance.now();
  const before = await receiver.count();
  const { result: sends, costs } = await costDuring(pids, async () => {
    const measured = await Promise.all(
      shots.map((shot) => closedLoop(shot, IN_FLIGHT_OF_PARTNER, seconds)),
    );
    const sent = sumOf(measured.map(({ count, failed }) => count - failed));
    await receiver.until(before + STATUSES * sent);
    return measured;
  });
  await receiver.report();
  const took_s = (performance.now() - started) / 1_000;
  const events = sumOf(sends.map(({ count }) => count));
  return { sends, events, seconds: took_s, costs, stored: {} };
}

function tell(name: string, runs: Run[]): void {
  const of = (take: (run: Run) => number, digits: number): string => spread(runs.map(take), digits);
  // Of the partners' own figures.
  const middle = (run: Run, take: (sends: Measured) => number): number =>
    quantile(run.sends.map(take), 0.5);
  const failed = sumOf(runs.flatMap(({ sends }) => sends.map((one) => one.failed)));
  console.log(
    `${name.padEnd(12)} ${of(rateOf, 0)} /s   ${of(cpuOf, 2)} CPU s per 1,000   ` +
      `p50 ${of((run) => middle(run, ({ p50_ms }) => p50_ms), 1)} ms   ` +
      `p99 ${of((run) => middle(run, ({ p99_ms }) => p99_ms), 1)} ms   failed ${failed}`,
  );
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
