// Measures a broadcast to 10,000 contacts at 20 per second, with default settings and the
// emulator's limiter: on time, no message refused, memory independent of the contacts that wait.
// Then the cost of 100 scheduled broadcasts of 10,000 contacts until they are due. BENCH_SHORT=1
// takes 400 contacts and 20 broadcasts.
import { setTimeout as sleep } from 'node:timers/promises';
import { EmulatorClient } from '../emulator/client';
import { arrivalsOf, refusedOf, spanOf, type Detail } from './arrivals';
import { NUMBER, register, WABA } from './chain';
import { tapMongo } from './mongo-tap';
import { costOf, openBench, type Bench, type Part } from './processes';

const SHORT = process.env['BENCH_SHORT'] === '1';
const SMALL = SHORT ? 40 : 1_000;
const LARGE = SHORT ? 400 : 10_000;
/** The throughput of a number in use in the business app. */
const RATE_PER_SEC = 20;
const TOLERANCE_PERCENT = 2;
const SCHEDULED = SHORT ? 20 : 100;
const IDLE_S = SHORT ? 10 : 30;
const LOOK_MS = 500;
const SETTLE_MS = 3_000;
const HOST = '127.0.0.1';
const SERVICES = [
  'onboarding',
  'messaging',
  'templates',
  'broadcasts',
  'webhooks',
  'fanout',
  'gateway',
] as const;
const entryOf = (name: string): string =>
  name === 'gateway' ? 'gateway/dist/main.js' : `services/${name}/dist/main.js`;

interface Setup {
  bench: Bench;
  emulator: EmulatorClient;
  parts: Map<string, Part>;
  rest(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
}

export async function benchBroadcast(): Promise<void> {
  const bench = await openBench();
  try {
    const setup = await prepare(bench);
    const small = await sendAll(setup, SMALL, 0);
    const large = await sendAll(setup, LARGE, SMALL);
    report(small, large);
    await reportWaiting(setup);
  } finally {
    await bench.stop();
  }
}

async function prepare(bench: Bench): Promise<Setup> {
  const parts = new Map<string, Part>();
  bench.start('emulator', 'test/dist/emulator/main.js', { EMULATOR_REQUEST_LOG: '100000' });
  for (const name of SERVICES) parts.set(name, bench.start(name, entryOf(name)));
  await bench.ready(...SERVICES);
  const key = await register(bench);
  const rest: Setup['rest'] = async (method, path, body) => {
    const answer = await fetch(`http://${HOST}:${bench.port('gateway')}/v1${path}`, {
      method,
      headers: {
        'x-partner-key': key,
        'x-waba-id': WABA,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  return { bench, emulator: new EmulatorClient(bench.env['UPSTREAM_URL'] as string), parts, rest };
}

const aBroadcast = (count: number, from: number, overrides: object = {}): object => ({
  name: `Bench of ${count}`,
  template_name: 'hello_world',
  template_language: 'en_US',
  contacts: Array.from({ length: count }, (_unused, at) => String(15_551_000_000 + from + at)),
  ...overrides,
});

interface Run {
  contacts: number;
  post_ms: number;
  /** From the first message to the last. */
  seconds: number;
  /** Messages beyond the first one of a recipient. */
  repeated: number;
  refused: number;
  detail: Detail;
  /** Memory of the broadcasts service: before, at its peak, and at every tenth of the run. */
  before_mib: number;
  peak_mib: number;
  memory_mib: number[];
  cpu_s: number;
}

async function sendAll(setup: Setup, count: number, from: number): Promise<Run> {
  const { emulator, rest, parts } = setup;
  await emulator.clearMessages();
  await emulator.clearRequests();
  const { pid } = parts.get('broadcasts') as Part;
  const before = costOf(pid);
  const body = aBroadcast(count, from);
  const posted = performance.now();
  const { broadcast_id } = await rest('POST', '/broadcasts', body);
  const post_ms = performance.now() - posted;
  const memory_mib: number[] = [];
  let peak_mib = before.rss_mib;
  let detail: Detail;
  do {
    await sleep(LOOK_MS);
    const answer = await rest('GET', `/broadcasts/${String(broadcast_id)}`);
    detail = answer['broadcast'] as Detail;
    const now_mib = costOf(pid).rss_mib;
    peak_mib = Math.max(peak_mib, now_mib);
    if ((detail.sent + detail.failed) * 10 >= count * memory_mib.length) memory_mib.push(now_mib);
    progress(detail);
  } while (detail.status !== 'completed');
  console.log('');
  const arrivals = await arrivalsOf(emulator, NUMBER);
  return {
    contacts: count,
    post_ms,
    seconds: spanOf(arrivals),
    repeated: arrivals.recipients.length - new Set(arrivals.recipients).size,
    refused: await refusedOf(emulator, NUMBER),
    detail,
    before_mib: before.rss_mib,
    peak_mib,
    memory_mib,
    cpu_s: costOf(pid).cpu_s - before.cpu_s,
  };
}

const BAR = 30;
let last_tenth = -1;

/** On a terminal one line that updates, elsewhere a line for each tenth. */
function progress({
  sent,
  failed,
  delivered,
  total,
  status,
  estimated_completion_at,
}: Detail): void {
  const part = (sent + failed) / total;
  const done = Math.round(part * BAR);
  const end = estimated_completion_at ? `  until ${estimated_completion_at.slice(11, 19)}` : '';
  const line = `  [${'#'.repeat(done)}${'.'.repeat(BAR - done)}] ${(part * 100).toFixed(0).padStart(3)} %  sent ${sent}  delivered ${delivered}  failed ${failed}${end}`;
  if (process.stdout.isTTY) return void process.stdout.write(`\r${line}   `);
  const tenth = status === 'completed' ? -1 : Math.floor(part * 10);
  if (tenth !== last_tenth) process.stdout.write(`${last_tenth < 0 ? '' : '\n'}${line}`);
  last_tenth = tenth;
}

function report(small: Run, large: Run): void {
  const { contacts, seconds, detail } = large;
  const target_s = contacts / RATE_PER_SEC;
  const off = (seconds / target_s - 1) * 100;
  console.log(`\nBroadcast on a number of ${RATE_PER_SEC} per second`);
  console.log(
    `${contacts} contacts in ${seconds.toFixed(1)} s, ${((contacts - 1) / seconds).toFixed(2)} /s   ` +
      `(target: ${target_s} s within ${TOLERANCE_PERCENT} %; ${off >= 0 ? '+' : ''}${off.toFixed(1)} %)`,
  );
  console.log(
    `sent ${detail.sent}, failed ${detail.failed}, refused by the upstream ${large.refused}, sent twice ${large.repeated}   (target: ${contacts}, 0, 0, 0)`,
  );
  for (const run of [small, large]) {
    const { before_mib, peak_mib, memory_mib } = run;
    console.log(
      `${String(run.contacts).padStart(6)} contacts: created in ${run.post_ms.toFixed(0)} ms; broadcasts service ${before_mib.toFixed(0)} MiB before, ` +
        `${peak_mib.toFixed(0)} MiB peak, each tenth ${memory_mib.map((mib) => mib.toFixed(0)).join(' ')}; ` +
        `${((run.cpu_s / run.contacts) * 1_000).toFixed(2)} CPU s per 1,000`,
    );
  }
}

interface Waiting {
  cpu_ms_per_s: number;
  mongo_cpu_ms_per_s: number;
  messages_per_s: number;
  rss_mib: number;
}

/**
 * Measures the service idle, then with scheduled broadcasts; restarts it each time, for its memory.
 */
async function reportWaiting({ bench, parts, rest }: Setup): Promise<void> {
  const tap = await tapMongo(bench.env['MONGO_URL'] as string);
  const mongo = bench.engines.started.find(({ name }) => name === 'mongo')?.pid;
  const again = async (): Promise<Part> => {
    await parts.get('broadcasts')?.stop();
    const part = bench.start('broadcasts', entryOf('broadcasts'), { MONGO_URL: tap.url });
    parts.set('broadcasts', part);
    await bench.ready('broadcasts');
    await sleep(SETTLE_MS);
    return part;
  };
  const measure = async ({ pid }: Part): Promise<Waiting> => {
    const before = { own: costOf(pid), mongo: costOf(mongo ?? 0), messages: tap.messages() };
    await sleep(IDLE_S * 1_000);
    const own = costOf(pid);
    return {
      cpu_ms_per_s: ((own.cpu_s - before.own.cpu_s) / IDLE_S) * 1_000,
      mongo_cpu_ms_per_s: ((costOf(mongo ?? 0).cpu_s - before.mongo.cpu_s) / IDLE_S) * 1_000,
      messages_per_s: (tap.messages() - before.messages) / IDLE_S,
      rss_mib: own.rss_mib,
    };
  };
  try {
    const none = await measure(await again());
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
    const body = aBroadcast(10_000, 0, { scheduled_at });
    const started = performance.now();
    for (let count = 0; count < SCHEDULED; count += 1) await rest('POST', '/broadcasts', body);
    const each_ms = (performance.now() - started) / SCHEDULED;
    const many = await measure(await again());
    console.log(
      `\n${SCHEDULED} scheduled broadcasts of 10,000 (created in ${each_ms.toFixed(0)} ms each), an hour before they are due`,
    );
    for (const [name, waiting] of [
      ['none', none],
      [String(SCHEDULED), many],
    ] as const) {
      console.log(
        `  ${name.padStart(4)}: ${waiting.messages_per_s.toFixed(1)} database messages/s, CPU ${waiting.cpu_ms_per_s.toFixed(1)} ms/s, ` +
          `database's CPU ${waiting.mongo_cpu_ms_per_s.toFixed(1)} ms/s, memory ${waiting.rss_mib.toFixed(0)} MiB`,
      );
    }
  } finally {
    await parts.get('broadcasts')?.stop();
    await tap.close();
  }
}
