// The whole mesh under a load of events: all eight services as `make up` starts them, partners and
// their receiver, and what a number of events costs.
import { setTimeout as sleep } from 'node:timers/promises';
import { createRpcClient } from '@bmg/common/rpc';
import { OperatorDefinition } from '@bmg/proto/onboarding';
import { freePort, SERVICE_NAMES, SERVICES, type ServiceName } from '@bmg/local';
import { EmulatorClient } from '../emulator/client';
import {
  createLoad,
  receiverControl,
  webhook,
  type Answered,
  type Load,
  type Place,
  type ReceiverControl,
} from './events-load';
import { quantile } from './load';
import { costDuring, type Bench, type Cost } from './processes';

export const HOST = '127.0.0.1';
export const WORKERS = 64;
export const SETTLE_MS = 1_500;

export interface Setup {
  bench: Bench;
  load: Load;
  receiver: ReceiverControl;
  receiver_url: string;
  places: Place[];
  pids: Record<string, number>;
}

/** `extra` adds settings of some services; `own_port` is that of a receiver in this process. */
export async function prepareMesh(
  bench: Bench,
  partners: number,
  extra: Partial<Record<ServiceName, NodeJS.ProcessEnv>> = {},
  own_port?: number,
): Promise<Setup> {
  const receiver_port = own_port ?? (await freePort());
  const pids: Record<string, number> = {};
  const start = (name: string, entry: string, env?: NodeJS.ProcessEnv): void => {
    pids[name] = bench.start(name, entry, env).pid;
  };
  if (own_port === undefined) {
    start('receiver', 'test/dist/bench/receiver.js', { RECEIVER_PORT: String(receiver_port) });
  }
  start('emulator', 'test/dist/emulator/main.js');
  for (const name of SERVICE_NAMES) {
    start(name, `${SERVICES[name].workspace}/dist/main.js`, extra[name]);
  }
  for (const { name, pid } of bench.engines.started) pids[name] = pid;
  pids['driver'] = process.pid;
  await bench.ready(...SERVICE_NAMES);
  const receiver_url = `http://${HOST}:${receiver_port}`;
  const places = await registerPartners(bench, receiver_url, partners);
  await sleep(SETTLE_MS);
  return {
    bench,
    load: createLoad(`http://${HOST}:${bench.port('ingress')}`),
    receiver: receiverControl(receiver_url),
    receiver_url,
    places,
    pids,
  };
}

/** Settings with which messaging sends to the stub of the upstream. */
export const stubSettings = (bench: Bench) => ({
  messaging: { UPSTREAM_URL: `http://${HOST}:${bench.port('stub')}` },
});

export function startStub({ bench, pids }: Setup, more: NodeJS.ProcessEnv = {}): void {
  const STUB_PORT = String(bench.port('stub'));
  pids['stub'] = bench.start('stub', 'test/dist/bench/stub.js', { STUB_PORT, ...more }).pid;
}

/** Registers partners with one number each; all use one receiver, each with its own path. */
export async function registerPartners(
  bench: Bench,
  receiver_url: string,
  count: number,
): Promise<Place[]> {
  const emulator = new EmulatorClient(bench.env['UPSTREAM_URL'] as string);
  const operator = createRpcClient(OperatorDefinition, bench.env['ONBOARDING_ADDR'] as string);
  const places: Place[] = [];
  for (let index = 0; index < count; index += 1) {
    const { partner_key } = await operator.rpc.createPartner(
      {
        name: `Bench ${index}`,
        webhook_url: `${receiver_url}/p${index}`,
        rate_limit_per_sec: 100_000,
        max_wabas: undefined,
      },
      {
        deadline: Date.now() + 10_000,
        span: { traceId: '0'.repeat(31) + '1', spanId: '0'.repeat(15) + '1', traceFlags: 0 },
        request_id: 'bench',
      },
    );
    const account = await emulator.createAccount({ numbers: [{}], tokens: [{}] });
    const number = {
      waba_id: account.waba_id,
      phone_number_id: account.phone_number_ids[0] as string,
    };
    const answer = await fetch(`http://${HOST}:${bench.port('gateway')}/v1/clients/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-partner-key': partner_key },
      body: JSON.stringify({ ...number, access_token: account.tokens[0] }),
    });
    if (!answer.ok) throw new Error(`registration: ${answer.status} ${await answer.text()}`);
    places.push({ ...number, partner_key });
  }
  await operator.stop();
  return places;
}

export interface Throughput {
  events: number;
  seconds: number;
  costs: Record<string, Cost>;
  /** Deliveries that went through the store, by reason. */
  stored: Record<string, number>;
}

/** Posts all `events` as fast as they are accepted, until the last one has arrived. */
export async function throughput(setup: Setup, events: number, items = 1): Promise<Throughput> {
  const { load, receiver, places, pids } = setup;
  const webhooks = Array.from({ length: events / items }, () => webhook(places, items));
  const post = load.closed(webhooks, WORKERS);
  const before = await receiver.count();
  const stored_before = await storedOf(setup);
  const started = performance.now();
  const { costs } = await costDuring(pids, async () => {
    const answered = await post();
    const refused = answered.filter(({ status }) => status !== 200).length;
    if (refused > 0) throw new Error(`${refused} webhooks were refused`);
    await receiver.until(before + events);
  });
  await receiver.report();
  const seconds = (performance.now() - started) / 1_000;
  const stored = difference(await storedOf(setup), stored_before);
  return { events, seconds, costs, stored };
}

/** Deliveries that webhooks has written to the store since its start, by reason. */
export async function storedOf({ bench }: Setup): Promise<Record<string, number>> {
  const answer = await fetch(`http://${HOST}:${bench.port('webhooks-metrics')}/metrics`);
  const lines = (await answer.text()).matchAll(
    /^webhook_deliveries_stored_total\{reason="(\w+)"\} (\d+)/gm,
  );
  return Object.fromEntries([...lines].map(([, reason, count]) => [reason, Number(count)]));
}

export const difference = (
  after: Record<string, number>,
  before: Record<string, number>,
): Record<string, number> =>
  Object.fromEntries(
    Object.entries(after).map(([reason, count]) => [reason, count - (before[reason] ?? 0)]),
  );

/** The parts of a run that are not the mesh or its engines. */
export const DRIVERS = new Set(['driver', 'receiver', 'emulator', 'stub']);
export const OURS = (name: string): boolean => !DRIVERS.has(name);
export const perThousand = ({ costs, events }: Throughput, name: string): number =>
  ((costs[name]?.cpu_s ?? 0) / events) * 1_000;

/** Less CPU than this for 1,000 is not printed. */
export const REPORT_FROM_S = 0.002;

/** Prints the cost of each part, the largest first. */
export function printCosts(what: string, run: Throughput): void {
  console.log(`\nCPU seconds per 1,000 ${what}, and memory`);
  for (const [name, { rss_mib }] of byCost(run)) {
    const cpu = perThousand(run, name);
    if (cpu < REPORT_FROM_S) continue;
    console.log(`  ${name.padEnd(12)} ${cpu.toFixed(3)} s   ${rss_mib.toFixed(0)} MiB`);
  }
}

export const byCost = ({ costs }: Pick<Throughput, 'costs'>): Array<[string, Cost]> =>
  Object.entries(costs).sort(([, a], [, b]) => b.cpu_s - a.cpu_s);

export const rateOf = ({ events, seconds }: Throughput): number => events / seconds;
export const cpuOf = (run: Throughput): number =>
  Object.keys(run.costs)
    .filter(OURS)
    .reduce((sum, part) => sum + perThousand(run, part), 0);

/** A healthy run stores none. */
export function storedText({ stored }: Throughput): string {
  const reasons = Object.entries(stored).filter(([, count]) => count > 0);
  return reasons.map(([reason, count]) => `   stored: ${reason} ${count}`).join('');
}

/** From each 200 of the ingress to the arrival of its event. */
export function delays(answered: Answered[], arrivals: Map<string, number>) {
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
