// One number with much traffic: one process of fan-out handles a backlog of its webhooks, then two.
// Meanwhile the services behind fan-out are stopped, so that the machine's cores are free for it.
import { setTimeout as sleep } from 'node:timers/promises';
import { createBusOperator } from '@bmg/common/bus';
import { freePort, SERVICES, type ServiceName } from '@bmg/local';
import { webhook } from './events-load';
import { prepareMesh, throughput, WORKERS, type Setup } from './events-mesh';
import { costOf, openBench } from './processes';

const BACKLOG = 5 * Number(process.env['BENCH_EVENTS'] ?? 20_000);
const BEHIND: readonly ServiceName[] = ['messaging', 'templates', 'broadcasts', 'number-admin'];
const GROUP = 'fanout-webhook';
const LOOK_EVERY_MS = 100;
/** What is left of the backlog at the begin and the end of the measurement, of warm processes. */
const MEASURED = { from: 0.6, to: 0.1 };

export async function benchHot(): Promise<void> {
  const bench = await openBench();
  try {
    const setup = await prepareMesh(bench, 1);
    await throughput(setup, BACKLOG / 5);
    for (const name of BEHIND) await bench.parts.get(name)?.stop();
    let first: number | undefined;
    for (const processes of [1, 2, 1, 2]) {
      const { rate, shares } = await handled(setup, processes);
      first ??= rate;
      console.log(
        `${processes} of fan-out  ${rate.toFixed(0)} /s, ${(rate / first).toFixed(2)} times the first; ` +
          `cores of each: ${shares.map((one) => one.toFixed(2)).join(', ')}`,
      );
    }
    setup.load.close();
  } finally {
    await bench.stop();
  }
}

/** Returns how many webhooks a second these processes handle, and what each takes of a core. */
async function handled(
  { bench, load, places }: Setup,
  processes: number,
): Promise<{ rate: number; shares: number[] }> {
  await bench.parts.get('fanout')?.stop();
  if (!bench.parts.has('webhooks')) {
    bench.start('webhooks', `${SERVICES.webhooks.workspace}/dist/main.js`);
    await bench.ready('webhooks');
  }
  const answered = await load.closed(
    Array.from({ length: BACKLOG }, () => webhook(places)),
    WORKERS,
  )();
  if (answered.some(({ status }) => status !== 200)) throw new Error('a webhook was refused');
  await bench.parts.get('webhooks')?.stop();
  const names = Array.from({ length: processes }, (_, at) => (at === 0 ? 'fanout' : 'fanout 2'));
  const started = await Promise.all(
    names.map(async (name) => {
      const port = await freePort();
      const entry = `${SERVICES.fanout.workspace}/dist/main.js`;
      const part = bench.start(name, entry, { METRICS_PORT: String(port) });
      await bench.readyAt(name, port);
      return part;
    }),
  );
  const cpu = (): number[] => started.map(({ pid }) => costOf(pid).cpu_s);
  const from = { ...(await leftAt(bench.engines.KAFKA_BROKERS, MEASURED.from)), cpu: cpu() };
  const to = { ...(await leftAt(bench.engines.KAFKA_BROKERS, MEASURED.to)), cpu: cpu() };
  const seconds = (to.at_ms - from.at_ms) / 1_000;
  await leftAt(bench.engines.KAFKA_BROKERS, 0);
  for (const part of started) await part.stop();
  return {
    rate: (from.left - to.left) / seconds,
    shares: to.cpu.map((used, at) => (used - (from.cpu[at] as number)) / seconds),
  };
}

/** Waits until at most this part of the backlog is left. */
async function leftAt(brokers: string, part: number): Promise<{ left: number; at_ms: number }> {
  const kafka = createBusOperator({
    KAFKA_BROKERS: brokers,
    KAFKA_TOPIC_PREFIX: 'bmg.',
    KAFKA_REPLICATION: 1,
    KAFKA_TLS: false,
    KAFKA_TLS_CA_FILE: undefined,
    KAFKA_SASL_MECHANISM: 'none',
    KAFKA_SASL_USERNAME: undefined,
    KAFKA_SASL_PASSWORD: undefined,
  });
  for (;;) {
    const lags = await kafka.lags();
    const left = lags
      .filter(({ group }) => group === GROUP)
      .reduce((sum, { messages }) => sum + messages, 0);
    if (left <= part * BACKLOG) return { left, at_ms: performance.now() };
    await sleep(LOOK_EVERY_MS);
  }
}
