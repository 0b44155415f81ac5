// Replicas follow the load: the gateway on the CPU figures of metrics-server, the fan-out on its
// consumer lag, which KEDA reads.
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../testkit/eventually';
import { inboundBody } from '../testkit/upstream-webhooks';
import { IN_NAMESPACE, json, NAMESPACE, RELEASE } from './release';
import { apply, stopwatch } from './run';
import { GATEWAY, openScene, type ClusterScene } from './scene';
import { stable, upgrade } from './upgrade';

const CALLERS = 8;
const PAUSE_MS = 2;
/**
 * At most 260 webhooks a second: a fan-out with its limit is always some behind, and the trial's
 * engines have room.
 */
const POSTERS = 8;
const POST_PAUSE_MS = 30;
const UP_LIMIT_MS = 300_000;
/** The chart waits five minutes before it removes a replica. */
const DOWN_LIMIT_MS = 600_000;
const MEASURED_LIMIT_MS = 180_000;
const MIN = 2;
const MAX = 3;
const SCALED = ['gateway', 'fanout'] as const;
type Scaled = (typeof SCALED)[number];

/**
 * Requests far below what the load takes, and a fan-out that is always behind it: two processors
 * are enough to scale.
 */
const VALUES = {
  keda: { enabled: true, lagThreshold: 20 },
  services: {
    gateway: {
      autoscaling: { enabled: true, min: MIN, max: MAX, cpu: 70 },
      resources: { requests: { cpu: '50m' } },
    },
    fanout: {
      // The threshold equals its limit, so that its CPU adds no replica.
      autoscaling: { enabled: true, min: MIN, max: MAX, cpu: 100 },
      resources: { requests: { cpu: '60m' }, limits: { cpu: '60m' } },
    },
  },
};

/** Lets KEDA reach the trial's own broker: a cluster's policies must let it reach yours. */
const POLICY = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'test-keda', namespace: NAMESPACE },
  spec: {
    podSelector: { matchLabels: { ...RELEASE, 'app.kubernetes.io/component': 'kafka' } },
    policyTypes: ['Ingress'],
    ingress: [
      {
        from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'keda' } } }],
      },
    ],
  },
};

interface Autoscaler {
  metadata: { name: string };
  spec: { metrics: unknown[] };
  status: {
    currentMetrics?: Array<{
      external?: { current: { averageValue?: string } };
      resource?: { current: { averageUtilization?: number } };
    }> | null;
  };
}

/**
 * Waits until the release has so many autoscalers, and a value for every metric of each: a lag that
 * KEDA cannot read has none. Returns the number of metrics.
 */
export const untilMeasured = (count: number): Promise<number> =>
  eventually(async () => {
    const { items } = await json<{ items: Autoscaler[] }>(['get', 'HorizontalPodAutoscalers']);
    if (items.length !== count) throw new Error(`${items.length} autoscalers instead of ${count}`);
    const missing = items.filter((one) => !isMeasured(one)).map(({ metadata }) => metadata.name);
    if (missing.length > 0) throw new Error(`no figures for ${missing.join(', ')}`);
    return items.flatMap(({ spec }) => spec.metrics).length;
  }, MEASURED_LIMIT_MS);

const isMeasured = ({ spec, status }: Autoscaler): boolean => {
  const values = (status.currentMetrics ?? []).filter(
    ({ external, resource }) =>
      external?.current.averageValue !== undefined ||
      resource?.current.averageUtilization !== undefined,
  );
  return values.length === spec.metrics.length;
};

const replicas = async (name: Scaled): Promise<number> =>
  (await json<{ spec: { replicas: number } }>(['get', 'deployment', `bmg-${name}`])).spec.replicas;

export async function autoscaling(): Promise<string> {
  await apply([POLICY], IN_NAMESPACE);
  await upgrade(stable(VALUES));
  const scene = await openScene('autoscaling');
  try {
    await untilMeasured(SCALED.length);
    const loaded = stopwatch();
    const load = startLoad(scene);
    const up: string[] = [];
    try {
      await Promise.all(
        SCALED.map(async (name) => {
          await eventually(async () => (await replicas(name)) === MAX, UP_LIMIT_MS);
          up.push(`${name} after ${loaded()} s`);
        }),
      );
    } finally {
      await load.stop();
    }
    const unloaded = stopwatch();
    const down: string[] = [];
    await Promise.all(
      SCALED.map(async (name) => {
        await eventually(async () => (await replicas(name)) === MIN, DOWN_LIMIT_MS);
        down.push(`${name} ${unloaded()} s after it`);
      }),
    );
    return `${MIN} to ${MAX} replicas of ${up.join(', ')} of load (${load.posted()} webhooks); back ${down.join(', ')}`;
  } finally {
    await scene.close();
  }
}

/** Requests at the gateway, and webhooks that the upstream's customers cause. */
function startLoad(scene: ClusterScene): { stop(): Promise<void>; posted(): number } {
  let on = true;
  let posted = 0;
  const call = async (): Promise<void> => {
    await fetch(`${GATEWAY}/v1/health`).then(
      (answer) => answer.arrayBuffer(),
      () => undefined,
    );
    await sleep(PAUSE_MS);
  };
  const [{ number }] = scene.partners as [(typeof scene.partners)[number]];
  const post = async (): Promise<void> => {
    posted += 1;
    const id = `wamid.L${posted}`;
    const from = String(15_550_400_000 + (posted % 1_000));
    await scene.ingress.post(inboundBody(number, { from, id, text: id }));
    await sleep(POST_PAUSE_MS);
  };
  const workers = [
    ...Array.from({ length: CALLERS }, () => call),
    ...Array.from({ length: POSTERS }, () => post),
  ].map(async (work) => {
    while (on) await work();
  });
  return {
    posted: () => posted,
    async stop() {
      on = false;
      await Promise.all(workers);
    },
  };
}
