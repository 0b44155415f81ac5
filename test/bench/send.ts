// The send path against the bare chain, in one run: koa → one unary gRPC → undici → the same stub.
import { setTimeout as sleep } from 'node:timers/promises';
import { createRpcClient } from '@bmg/common/rpc';
import { OperatorDefinition } from '@bmg/proto/onboarding';
import { freePort } from '@bmg/local';
import { closedLoop, openLoop, type Measured, type Shot } from './load';
import { costDuring, openBench, type Bench, type Cost } from './processes';

const WORKERS = 64;
const WARM_UP_S = 4;
const MEASURE_S = 10;
const HALF_S = 10;
const HOST = '127.0.0.1';

export async function benchSend(): Promise<void> {
  const bench = await openBench();
  try {
    const { ours, bare, pids } = await prepare(bench);
    const rows: Array<{ name: string; measured: Measured; costs: Record<string, Cost> }> = [];
    // Both in turns, twice: what the machine does meanwhile must not favour one.
    for (const round of [1, 2]) {
      for (const [name, shot] of [
        ['bare chain', bare],
        ['gateway', ours],
      ] as const) {
        await closedLoop(shot, WORKERS, round === 1 ? WARM_UP_S : 1);
        const { result, costs } = await costDuring(pids, () =>
          closedLoop(shot, WORKERS, MEASURE_S),
        );
        rows.push({ name, measured: result, costs });
      }
    }
    const best = (name: string) =>
      rows
        .filter((row) => row.name === name)
        .sort((a, b) => b.measured.per_second - a.measured.per_second)[0] as (typeof rows)[0];
    const [base, mine] = [best('bare chain'), best('gateway')];
    const half = await openLoop(ours, mine.measured.per_second / 2, HALF_S);
    report(base, mine, half);
  } finally {
    await bench.stop();
  }
}

async function prepare(
  bench: Bench,
): Promise<{ ours: Shot; bare: Shot; pids: Record<string, number> }> {
  const stub = bench.port('stub');
  const edge = await freePort();
  const service = await freePort();
  const pids: Record<string, number> = {};
  const start = (name: string, entry: string, extra?: NodeJS.ProcessEnv): void => {
    pids[name] = bench.start(name, entry, extra).pid;
  };
  start('stub', 'test/dist/bench/stub.js', { STUB_PORT: String(stub) });
  start('emulator', 'test/dist/emulator/main.js');
  start('onboarding', 'services/onboarding/dist/main.js');
  start('messaging', 'services/messaging/dist/main.js', { UPSTREAM_URL: `http://${HOST}:${stub}` });
  start('gateway', 'gateway/dist/main.js');
  const yardstick = {
    YARDSTICK_ADDR: `${HOST}:${service}`,
    EDGE_PORT: String(edge),
    UPSTREAM_URL: `http://${HOST}:${stub}`,
  };
  start('bare service', 'test/dist/bench/yardstick-service.js', yardstick);
  start('bare edge', 'test/dist/bench/yardstick-edge.js', yardstick);
  for (const { name, pid } of bench.engines.started) pids[name] = pid;
  await bench.ready('onboarding', 'messaging', 'gateway');
  const key = await register(bench);
  await sleep(500);
  const body = (index: number): string =>
    JSON.stringify({
      to: String(15_550_100_000 + (index % 9_999)),
      text: 'Your order is on its way.',
    });
  return {
    pids,
    bare: { origin: `http://${HOST}:${edge}`, path: '/', headers: {}, body },
    ours: {
      origin: `http://${HOST}:${bench.port('gateway')}`,
      path: '/v1/messages/send',
      headers: { 'x-partner-key': key, 'x-waba-id': '900000000000001' },
      body,
    },
  };
}

/** A partner with the emulator's first number. */
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
  const answer = await fetch(`http://${HOST}:${bench.port('gateway')}/v1/clients/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-partner-key': partner_key },
    body: JSON.stringify({
      waba_id: '900000000000001',
      phone_number_id: '800000000000001',
      access_token: 'EMULATED-TOKEN-1',
    }),
  });
  if (!answer.ok) throw new Error(`registration: ${answer.status} ${await answer.text()}`);
  return partner_key;
}

type Row = { measured: Measured; costs: Record<string, Cost> };

function report(base: Row, mine: Row, half: Measured): void {
  const line = (name: string, { measured }: Row): string =>
    `${name.padEnd(12)} ${measured.per_second.toFixed(0).padStart(6)} /s   p50 ${measured.p50_ms.toFixed(1)} ms   p99 ${measured.p99_ms.toFixed(1)} ms   failed ${measured.failed}`;
  console.log('\nSend path, 64 requests under way');
  console.log(line('bare chain', base));
  console.log(line('gateway', mine));
  console.log(
    `ratio        ${(mine.measured.per_second / base.measured.per_second).toFixed(2)}   (aim: 0.50 or better)`,
  );
  console.log(
    `at half load ${(half.count / half.seconds).toFixed(0).padStart(6)} /s   p50 ${half.p50_ms.toFixed(1)} ms   p99 ${half.p99_ms.toFixed(1)} ms   failed ${half.failed}   (aim: p99 under 50 ms)`,
  );
  console.log('\nCPU seconds per 1,000 sends, and memory');
  for (const [name, row] of [
    ['bare chain', base],
    ['gateway', mine],
  ] as const) {
    for (const [part, cost] of Object.entries(row.costs)) {
      const per_thousand = (cost.cpu_s / row.measured.count) * 1_000;
      if (per_thousand < 0.005) continue;
      console.log(
        `  ${name.padEnd(12)} ${part.padEnd(14)} ${per_thousand.toFixed(3)} s   ${cost.rss_mib.toFixed(0)} MiB`,
      );
    }
  }
}
