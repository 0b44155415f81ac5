// How the cost of an event grows: with the number of partners, and with a second process of each
// service that reads events.
import { freePort, SERVICES, type ServiceName } from '@bmg/local';
import {
  cpuOf,
  OURS,
  prepareMesh,
  rateOf,
  registerPartners,
  storedText,
  throughput,
  type Setup,
  type Throughput,
} from './events-mesh';
import { openBench } from './processes';

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 10_000);
const PARTNERS = [10, 100, 1_000];
/** The services with consumers of what an inbound message causes. */
const DOUBLED: readonly ServiceName[] = ['fanout', 'webhooks', 'messaging', 'onboarding'];

export async function benchScale(): Promise<void> {
  const bench = await openBench();
  try {
    const setup = await prepareMesh(bench, PARTNERS[0] as number);
    await throughput(setup, EVENTS);
    let first: Throughput | undefined;
    for (const partners of PARTNERS) {
      const missing = partners - setup.places.length;
      setup.places.push(...(await registerPartners(bench, setup.receiver_url, missing)));
      // Every partner's credentials, owners and receiver are read once.
      await throughput(setup, Math.max(EVENTS / 10, 2 * partners));
      const run = await throughput(setup, EVENTS);
      first ??= run;
      tell(`${partners} partners`, run, first);
    }
    setup.places.splice(PARTNERS[0] as number);
    const one = await throughput(setup, EVENTS);
    tell('one process each', one, one);
    await startSecond(setup);
    await throughput(setup, EVENTS);
    tell('two processes each', await throughput(setup, EVENTS), one);
    setup.load.close();
  } finally {
    await bench.stop();
  }
}

function tell(name: string, run: Throughput, first: Throughput): void {
  const memory = Object.entries(run.costs)
    .filter(([part]) => OURS(part) && !part.startsWith('mongo') && !part.startsWith('kafka'))
    .map(([part, { rss_mib }]) => `${part} ${rss_mib.toFixed(0)}`);
  console.log(
    `${name.padEnd(19)} ${rateOf(run).toFixed(0).padStart(5)} /s   ${cpuOf(run).toFixed(3)} CPU s per 1,000, ` +
      `${(cpuOf(run) / cpuOf(first)).toFixed(2)} times the first${storedText(run)}\n` +
      `  MiB: ${memory.join('  ')}`,
  );
}

/** Starts another process of each, and waits until Kafka has shared the partitions out. */
async function startSecond({ bench, pids }: Setup): Promise<void> {
  for (const name of DOUBLED) {
    const second = `${name} 2`;
    const metrics_port = await freePort();
    const { pid } = bench.start(second, `${SERVICES[name].workspace}/dist/main.js`, {
      GRPC_PORT: String(await freePort()),
      INGRESS_PORT: String(await freePort()),
      METRICS_PORT: String(metrics_port),
    });
    pids[second] = pid;
    await bench.readyAt(second, metrics_port);
  }
}
