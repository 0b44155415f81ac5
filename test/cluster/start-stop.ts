// Pods that hang, and pods that start before what they need.
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../testkit/eventually';
import { signal } from './faults';
import { inNamespace, isReady, json, NAMESPACE, podsOf, untilRolledOut, type Pod } from './release';
import { rolledOut, stopwatch } from './run';
import { exposeRelease, GATEWAY } from './scene';
import { stable, upgrade } from './upgrade';

/** Two failed probes, five seconds apart, with a timeout of three, and time for the routing. */
const ENGINE_LIMIT_S = 120;
const LEAVES_LIMIT_MS = 30_000;
/** Six failed probes of liveness, ten seconds apart. */
const RESTART_LIMIT_MS = 180_000;
/** The nodes follow the list of endpoints within a second. */
const ROUTING_MS = 2_000;
const ANSWER_LIMIT_MS = 5_000;
const LOG_LIMIT_MS = 120_000;
const WAITS_MS = 30_000;

interface Slices {
  items: Array<{
    endpoints: Array<{ addresses: string[]; conditions: { ready: boolean } }> | null;
  }>;
}

/** Addresses to which the cluster routes requests to the gateway. */
async function routed(): Promise<string[]> {
  const selector = ['--selector', 'kubernetes.io/service-name=bmg-gateway-http'];
  const { items } = await json<Slices>(['get', 'endpointslices', ...selector]);
  return items.flatMap(({ endpoints }) =>
    (endpoints ?? [])
      .filter(({ conditions }) => conditions.ready)
      .flatMap(({ addresses }) => addresses),
  );
}

const restartsOf = ({ status }: Pod): number => status.containerStatuses?.[0]?.restartCount ?? 0;

/** A request on a new connection: an older one may lead to the hung pod. */
const healthStatus = (): Promise<number> =>
  new Promise((done, failed) => {
    const options = { agent: false, timeout: ANSWER_LIMIT_MS };
    const request = get(`${GATEWAY}/v1/health`, options, (answer) => {
      answer.resume();
      done(answer.statusCode ?? 0);
    });
    request.once('timeout', () => request.destroy(new Error('GET /v1/health: no answer')));
    request.once('error', failed);
  });

export async function hungPod(): Promise<string> {
  await upgrade(stable());
  await exposeRelease();
  const [pod] = (await podsOf('gateway')).filter(isReady) as [Pod];
  const find = async (): Promise<Pod> =>
    (await podsOf('gateway')).find(({ metadata }) => metadata.name === pod.metadata.name) as Pod;
  const since = stopwatch();
  await signal(pod, 'SIGSTOP');
  await eventually(async () => !(await routed()).includes(pod.status.podIP), LEAVES_LIMIT_MS);
  const left = since();
  // Once the hung pod is out of the way, the other one answers every request.
  await sleep(ROUTING_MS);
  for (let request = 0; request < 20; request += 1) {
    const status = await healthStatus();
    if (status !== 200) throw new Error(`GET /v1/health answered ${status}`);
  }
  await eventually(async () => restartsOf(await find()) > restartsOf(pod), RESTART_LIMIT_MS);
  const restarted = since();
  await eventually(async () => isReady(await find()), RESTART_LIMIT_MS);
  return `left the endpoints after ${left} s, restarted after ${restarted} s, ready after ${since()} s`;
}

/** Restarts a service while its database is stopped, then starts the database. */
export async function lateEngine(): Promise<string> {
  const scale = (replicas: number): Promise<string> =>
    inNamespace(['scale', 'statefulset/bmg-mongo', `--replicas=${replicas}`]);
  await scale(0);
  try {
    await inNamespace(['wait', '--for=delete', 'pod/bmg-mongo-0', '--timeout=90s']);
    for (const { metadata } of await podsOf('messaging')) {
      await inNamespace(['delete', 'pod', metadata.name]);
    }
    const [waiting] = await podsOf('messaging');
    const readLog = async (): Promise<true> => {
      const log = await inNamespace(['logs', waiting?.metadata.name ?? '']);
      if (/waiting for MongoDB/.test(log)) return true;
      throw new Error(`its log does not say why it waits: ${log.slice(-500)}`);
    };
    await eventually(readLog, LOG_LIMIT_MS);
    await sleep(WAITS_MS);
    if ((await podsOf('messaging')).some(isReady)) {
      throw new Error('a pod is ready without its database');
    }
  } finally {
    await scale(1);
  }
  const since = stopwatch();
  await rolledOut(NAMESPACE, 'statefulset/bmg-mongo', ENGINE_LIMIT_S);
  await untilRolledOut();
  const pods = await podsOf('messaging');
  const restarts = pods.reduce((sum, pod) => sum + restartsOf(pod), 0);
  if (restarts > 0) throw new Error(`the waiting pods were restarted ${restarts} times`);
  return `ready ${since()} s after the database started, no restart`;
}
