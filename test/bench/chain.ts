// Compares a request's path with the bare chain (koa → one unary gRPC call → undici → the same
// stub) in one run: starts both, loads them in turns, and prints the comparison.
import { setTimeout as sleep } from 'node:timers/promises';
import { createRpcClient } from '@bmg/common/rpc';
import { OperatorDefinition } from '@bmg/proto/onboarding';
import { freePort } from '@bmg/local';
import { closedLoop, spread, type Measured, type Shot } from './load';
import { costDuring, type Bench, type Cost } from './processes';

export const WORKERS = 64;
const WARM_UP_S = 4;
const MEASURE_S = 10;
const ROUNDS = 3;
/** Processes that have just started open their connections. */
export const SETTLE_MS = 500;
const REACH_LIMIT_MS = 20_000;
const HOST = '127.0.0.1';
/** The emulator's first account and number. */
const WABA = '900000000000001';
const NUMBER = { phone_number_id: '800000000000001' };

export interface Chain {
  pids: Record<string, number>;
  /** Makes a request to the gateway. */
  gateway(request: Pick<Shot, 'path' | 'body'> & { method?: 'GET' | 'POST' }): Shot;
  bare: Shot;
  /** Starts the bare chain with a count in Redis and a record in MongoDB for each request. */
  startStoring(): Promise<Shot>;
}

/** Messaging calls the stub instead of the emulator. */
export async function startChain(bench: Bench): Promise<Chain> {
  const stub = `http://${HOST}:${bench.port('stub')}`;
  const pids: Record<string, number> = {};
  const start = (name: string, entry: string, extra?: NodeJS.ProcessEnv): void => {
    pids[name] = bench.start(name, entry, extra).pid;
  };
  start('stub', 'test/dist/bench/stub.js', { STUB_PORT: String(bench.port('stub')) });
  start('emulator', 'test/dist/emulator/main.js');
  start('onboarding', 'services/onboarding/dist/main.js');
  start('messaging', 'services/messaging/dist/main.js', { UPSTREAM_URL: stub });
  start('gateway', 'gateway/dist/main.js');
  const { shot: bare } = await startBareSends(bench, pids);
  for (const { name, pid } of bench.engines.started) pids[name] = pid;
  await bench.ready('onboarding', 'messaging', 'gateway');
  const key = await register(bench);
  await sleep(SETTLE_MS);
  return {
    pids,
    bare,
    startStoring: async () => (await startYardstick(bench, pids, 'storing', {})).shot,
    gateway: ({ path, ...request }) => ({
      origin: `http://${HOST}:${bench.port('gateway')}`,
      path: `/v1${path}`,
      headers: { 'x-partner-key': key, 'x-waba-id': WABA },
      ...request,
    }),
  };
}

interface Yardstick {
  shot: Shot;
  /** The names of its processes, which join `pids`. */
  parts: string[];
}

async function startYardstick(
  bench: Bench,
  pids: Record<string, number>,
  name: string,
  urls: NodeJS.ProcessEnv,
): Promise<Yardstick> {
  const edge = await freePort();
  const env = {
    YARDSTICK_ADDR: `${HOST}:${await freePort()}`,
    EDGE_PORT: String(edge),
    UPSTREAM_URL: `http://${HOST}:${bench.port('stub')}`,
    ...urls,
  };
  const parts = ['service', 'edge'].map((half) => {
    const part = `${name} ${half}`;
    pids[part] = bench.start(part, `test/dist/bench/yardstick-${half}.js`, env).pid;
    return part;
  });
  const shot = { origin: `http://${HOST}:${edge}`, path: '/', headers: {}, body: aText };
  return { shot, parts };
}

/** Starts the bare chain of sends, which calls the stub. */
export const startBareSends = (bench: Bench, pids: Record<string, number>): Promise<Yardstick> =>
  startYardstick(bench, pids, 'bare', { REDIS_URL: '', MONGO_URL: '' });

export const aText = (index: number): string =>
  JSON.stringify({
    to: String(15_550_100_000 + (index % 9_999)),
    text: 'Your order is on its way.',
  });

/** Creates a partner with the emulator's first number; returns its key. */
export async function register(bench: Bench, webhook_url?: string): Promise<string> {
  const operator = createRpcClient(OperatorDefinition, bench.env['ONBOARDING_ADDR'] as string);
  const { partner_key } = await operator.rpc.createPartner(
    { name: 'Bench', webhook_url, rate_limit_per_sec: 100_000, max_wabas: undefined },
    {
      deadline: Date.now() + 10_000,
      span: { traceId: '0'.repeat(31) + '1', spanId: '0'.repeat(15) + '1', traceFlags: 0 },
      request_id: 'bench',
    },
  );
  await operator.stop();
  for (const until = Date.now() + REACH_LIMIT_MS; ;) {
    const answer = await fetch(`http://${HOST}:${bench.port('gateway')}/v1/clients/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-partner-key': partner_key },
      body: JSON.stringify({
        waba_id: WABA,
        ...NUMBER,
        access_token: 'EMULATED-TOKEN-1',
      }),
    });
    if (answer.ok) return partner_key;
    // Services that have just started may not have found each other.
    if (answer.status !== 503 || Date.now() > until) {
      throw new Error(`registration: ${answer.status} ${await answer.text()}`);
    }
    await sleep(SETTLE_MS);
  }
}

export interface Row {
  name: string;
  /** The best round, so that other load on the machine favours none. */
  measured: Measured;
  costs: Record<string, Cost>;
  /** The rate of each round. */
  per_second: number[];
}

/** Measures each in turns, with `workers` requests in flight. */
export async function inTurns(
  shots: ReadonlyArray<readonly [string, Shot]>,
  pids: Record<string, number>,
  workers = WORKERS,
): Promise<Row[]> {
  const best = new Map<string, Row>();
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const [name, shot] of shots) {
      await closedLoop(shot, workers, round === 1 ? WARM_UP_S : 1);
      const { result: measured, costs } = await costDuring(pids, () =>
        closedLoop(shot, workers, MEASURE_S),
      );
      const known = best.get(name);
      const per_second = [...(known?.per_second ?? []), measured.per_second];
      const better = !known || measured.per_second > known.measured.per_second;
      best.set(name, better ? { name, measured, costs, per_second } : { ...known, per_second });
    }
  }
  return shots.map(([name]) => best.get(name) as Row);
}

export const printRow = (
  { name, measured, per_second: rounds }: Omit<Row, 'costs'>,
  base?: Row,
): void => {
  const { per_second, p50_ms, p99_ms, failed } = measured;
  const ratios = rounds.map((rate, round) => rate / (base?.per_second[round] ?? rate));
  const ratio = base ? `   ratio ${spread(ratios, 2)}` : '';
  console.log(
    `${name.padEnd(24)} ${per_second.toFixed(0).padStart(6)} /s   p50 ${p50_ms.toFixed(1)} ms   p99 ${p99_ms.toFixed(1)} ms   failed ${failed}${ratio}`,
  );
};

const REPORT_FROM_S = 0.005;

export function printCosts(rows: readonly Row[], what: string): void {
  console.log(`\nCPU seconds per 1,000 ${what}, and memory`);
  for (const { name, measured, costs } of rows) {
    for (const [part, { cpu_s, rss_mib }] of Object.entries(costs)) {
      const per_thousand = (cpu_s / measured.count) * 1_000;
      if (per_thousand < REPORT_FROM_S) continue;
      console.log(
        `  ${name.padEnd(24)} ${part.padEnd(14)} ${per_thousand.toFixed(3)} s   ${rss_mib.toFixed(0)} MiB`,
      );
    }
  }
}
