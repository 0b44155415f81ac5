// Replicas follow the load: the gateway on the CPU figures of metrics-server, the fan-out on its
// consumer lag, which KEDA reads.
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../testkit/eventually';
import { inboundBody } from '../testkit/upstream-webhooks';
import { inNamespace, json, NAMESPACE, RELEASE } from './release';
import { untilMeasured } from './scaling';
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

const replicas = async (name: Scaled): Promise<number> =>
  (await json<{ spec: { replicas: number } }>(['get', 'deployment', `bmg-${name}`])).spec.replicas;

export async function autoscaling(): Promise<string> {
  await inNamespace(['apply', '--filename', '-'], { input: JSON.stringify(POLICY) });
  await upgrade(stable(VALUES));
  const scene = await openScene('autoscaling');
  try {
    await untilMeasured(SCALED.length);
    const began = performance.now();
    const since = (from: number): number => Math.round((performance.now() - from) / 1_000);
    const load = startLoad(scene);
    const up: string[] = [];
    try {
      await Promise.all(
        SCALED.map(async (name) => {
          await eventually(async () => (await replicas(name)) === MAX, UP_LIMIT_MS);
          up.push(`${name} after ${since(began)} s`);
        }),
      );
    } finally {
      await load.stop();
    }
    const ended = performance.now();
    const down: string[] = [];
    await Promise.all(
      SCALED.map(async (name) => {
        await eventually(async () => (await replicas(name)) === MIN, DOWN_LIMIT_MS);
        down.push(`${name} ${since(ended)} s after it`);
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
