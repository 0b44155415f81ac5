// Measures a quiet partner by itself, then beside a partner that sends at ten times its limit.
import { createRpcClient } from '@bmg/common/rpc';
import { OperatorDefinition } from '@bmg/proto/onboarding';
import { openLoop, type Measured, type Shot } from './load';
import { openBench, type Bench } from './processes';

const HOST = '127.0.0.1';
const SHORT = process.env['BENCH_SHORT'] === '1';
const MEASURE_S = SHORT ? 4 : 15;
const WARM_UP_S = SHORT ? 2 : 4;
const QUIET_PER_SEC = 20;
const FLOOD_LIMIT_PER_SEC = 50;
const FLOOD_PER_SEC = 10 * FLOOD_LIMIT_PER_SEC;

const NUMBERS = [
  {
    waba_id: '900000000000001',
    phone_number_id: '800000000000001',
    access_token: 'EMULATED-TOKEN-1',
  },
  {
    waba_id: '900000000000002',
    phone_number_id: '800000000000002',
    access_token: 'EMULATED-TOKEN-2',
  },
] as const;

export async function benchQuiet(): Promise<void> {
  const bench = await openBench();
  try {
    const stub = bench.port('stub');
    bench.start('stub', 'test/dist/bench/stub.js', { STUB_PORT: String(stub) });
    bench.start('emulator', 'test/dist/emulator/main.js');
    bench.start('onboarding', 'services/onboarding/dist/main.js');
    bench.start('messaging', 'services/messaging/dist/main.js', {
      UPSTREAM_URL: `http://${HOST}:${stub}`,
    });
    bench.start('gateway', 'gateway/dist/main.js');
    await bench.ready('onboarding', 'messaging', 'gateway');
    const quiet = await shotOf(bench, NUMBERS[0], 1_000);
    const flood = await shotOf(bench, NUMBERS[1], FLOOD_LIMIT_PER_SEC);
    await openLoop(quiet, QUIET_PER_SEC, WARM_UP_S);
    const alone = await openLoop(quiet, QUIET_PER_SEC, MEASURE_S);
    const [beside, flooding] = await Promise.all([
      openLoop(quiet, QUIET_PER_SEC, MEASURE_S),
      openLoop(flood, FLOOD_PER_SEC, MEASURE_S),
    ]);
    report(alone, beside, flooding);
  } finally {
    await bench.stop();
  }
}

/** Creates a partner with one number and returns a request that sends a text. */
async function shotOf(
  bench: Bench,
  number: (typeof NUMBERS)[number],
  rate_limit_per_sec: number,
): Promise<Shot> {
  const origin = `http://${HOST}:${bench.port('gateway')}`;
  const operator = createRpcClient(OperatorDefinition, bench.env['ONBOARDING_ADDR'] as string);
  const { partner_key } = await operator.rpc.createPartner(
    { name: 'Bench', webhook_url: undefined, rate_limit_per_sec, max_wabas: undefined },
    {
      deadline: Date.now() + 10_000,
      span: { traceId: '0'.repeat(31) + '1', spanId: '0'.repeat(15) + '1', traceFlags: 0 },
      request_id: 'bench',
    },
  );
  await operator.stop();
  const headers = { 'x-partner-key': partner_key, 'x-waba-id': number.waba_id };
  const answer = await fetch(`${origin}/v1/clients/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(number),
  });
  if (!answer.ok) throw new Error(`registration: ${answer.status} ${await answer.text()}`);
  return {
    origin,
    path: '/v1/messages/send',
    headers,
    body: (index) =>
      JSON.stringify({ to: String(15_550_100_000 + (index % 9_999)), text: 'Hello' }),
  };
}

function report(alone: Measured, beside: Measured, flooding: Measured): void {
  const line = (name: string, { p50_ms, p99_ms, failed, count }: Measured): string =>
    `${name.padEnd(25)} p50 ${p50_ms.toFixed(1)} ms   p99 ${p99_ms.toFixed(1)} ms   refused or failed ${failed} of ${count}`;
  console.log(
    `\nA quiet partner (${QUIET_PER_SEC} sends per second) beside one at ten times its limit`,
  );
  console.log(line('quiet, alone', alone));
  console.log(line('quiet, beside the flood', beside));
  console.log(line(`flood, ${FLOOD_PER_SEC} per second`, flooding));
  console.log(
    `p99 ratio                 ${(beside.p99_ms / alone.p99_ms).toFixed(2)}   (target: none of the quiet partner’s refused)`,
  );
}
