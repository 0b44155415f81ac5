// Faults of a cluster under traffic: a drained node, pods and containers that end, a network that
// is cut.
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICE_NAMES } from '@bmg/local';
import type { FaultSpan } from '../chaos/history';
import { pick, planFaults, type FaultKind } from '../chaos/schedule';
import { seededRandom } from '../emulator/random';
import type { Options } from './traffic';
import { docker } from './docker';
import { NODES } from './facts';
import { ENGINES, inNamespace, isReady, podsOf, untilRolledOut, type Pod } from './release';
import { kubectl, stopwatch, words } from './run';
import { underTraffic } from './traffic';
import { FRONT_PODS, stable, upgrade } from './upgrade';

const DRAIN_LIMIT = '600s';
const DRAIN_LIMIT_MS = 620_000;
const CUT_MS = 30_000;
const KEPT = ['emulator', ...Object.keys(ENGINES)];
const [FIRST, SECOND] = NODES as [(typeof NODES)[number], (typeof NODES)[number]];

/** Engines and upstream stay: they have no second copy. */
export async function drainNode({ seed }: Options): Promise<string> {
  await upgrade(stable());
  let seconds = 0;
  let moved = 0;
  const figures = await underTraffic({
    name: 'drain',
    seed: seed + 2,
    cut_off_max: FRONT_PODS,
    async disturb() {
      const selector = `app.kubernetes.io/component notin (${KEPT.join(',')})`;
      moved = (await podsOf()).filter(({ spec }) => spec.nodeName === SECOND.name).length;
      const since = stopwatch();
      const options = words`--ignore-daemonsets --delete-emptydir-data --timeout ${DRAIN_LIMIT}`;
      try {
        await kubectl(words`drain ${SECOND.name} ${options} --pod-selector ${selector}`, {
          limit_ms: DRAIN_LIMIT_MS,
        });
        seconds = since();
        await untilRolledOut();
      } finally {
        await kubectl(['uncordon', SECOND.name]);
      }
    },
  });
  return `${moved} pods of ${SECOND.name} moved in ${seconds} s; ${figures}`;
}

/** Cuts the pods of both nodes off from each other; the nodes still reach the API server. */
export async function loseNetwork({ seed }: Options): Promise<string> {
  await upgrade(stable());
  return underTraffic({
    name: 'network',
    seed: seed + 3,
    cut_off_max: null,
    async disturb(spans, now) {
      const span = { name: 'no network', target: SECOND.name, from_ms: now(), to_ms: Infinity };
      spans.push(span);
      const rules = async (change: string): Promise<void> => {
        for (const direction of ['--source', '--destination']) {
          const rule = words`${direction} ${FIRST.pod_range} --jump DROP`;
          await docker(words`exec ${SECOND.name} iptables ${change} FORWARD ${rule}`);
        }
      };
      try {
        await rules('--insert');
        await sleep(CUT_MS);
      } finally {
        await rules('--delete');
        span.to_ms = now();
      }
      await untilRolledOut();
    },
  });
}

const KINDS: readonly FaultKind[] = [
  { name: 'delete pod', weight: 1, targets: SERVICE_NAMES, lasts_ms: [5_000, 15_000] },
  { name: 'kill -9', weight: 1, targets: SERVICE_NAMES, lasts_ms: [5_000, 15_000] },
];

export async function killAtRandom({ seed, minutes }: Options): Promise<string> {
  await upgrade(stable());
  const planned = planFaults(seed, minutes * 60_000, KINDS);
  const figures = await underTraffic({
    name: 'kills',
    seed,
    cut_off_max: null,
    async disturb(spans, now) {
      const began = now();
      for (const one of planned) {
        await sleep(Math.max(0, began + one.at_ms - now()));
        const span: FaultSpan = { ...one, from_ms: now(), to_ms: Infinity };
        spans.push(span);
        const pods = (await podsOf(one.target)).filter(isReady);
        // The earlier fault of this service has not healed yet.
        if (pods.length > 0) {
          const pod = pick(seededRandom(one.seed), pods);
          if (one.name === 'kill -9') await signal(pod, 'SIGKILL');
          else await inNamespace(words`delete pod ${pod.metadata.name} --wait=false`);
        }
        span.to_ms = now();
      }
      await untilRolledOut();
    },
  });
  const count = (name: string): number => planned.filter((one) => one.name === name).length;
  return `${count('delete pod')} pods deleted, ${count('kill -9')} containers killed; ${figures}`;
}

/** Sends a signal to the first process of a pod, past its own handling. */
export async function signal(pod: Pod, name: string): Promise<void> {
  const id = pod.status.containerStatuses?.[0]?.containerID?.replace('containerd://', '');
  if (!id) throw new Error(`${pod.metadata.name} has no container`);
  const kill = words`ctr --namespace k8s.io tasks kill --signal ${name} ${id}`;
  await docker(words`exec ${pod.spec.nodeName} ${kill}`);
}
