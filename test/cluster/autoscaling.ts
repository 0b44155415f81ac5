// Replicas follow the load: the HorizontalPodAutoscaler of the gateway, on the CPU figures of metrics-server.
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../testkit/eventually';
import { json, podsOf } from './release';
import { exposeRelease, GATEWAY } from './scene';
import { stable, upgrade } from './upgrade';

const CALLERS = 8;
const UP_LIMIT_MS = 240_000;
/** The chart waits five minutes before it removes a replica. */
const DOWN_LIMIT_MS = 600_000;
const PAUSE_MS = 2;
const MAX = 3;

const replicas = async (): Promise<number> =>
  (await json<{ spec: { replicas: number } }>(['get', 'deployment', 'bmg-gateway'])).spec.replicas;

export async function autoscaling(): Promise<string> {
  // A request far below what the load takes, so that two processors are enough to reach the target.
  const gateway = {
    autoscaling: { enabled: true, min: 2, max: MAX, cpu: 70 },
    resources: { requests: { cpu: '50m', memory: '224Mi' }, limits: { memory: '768Mi' } },
  };
  await upgrade(stable({ services: { gateway } }));
  await exposeRelease();
  const before = await replicas();
  let on = true;
  const load = Array.from({ length: CALLERS }, async () => {
    while (on) {
      await fetch(`${GATEWAY}/v1/health`).then(
        (answer) => answer.arrayBuffer(),
        () => undefined,
      );
      await sleep(PAUSE_MS);
    }
  });
  const began = performance.now();
  const since = (): number => Math.round((performance.now() - began) / 1_000);
  let up = 0;
  try {
    await eventually(async () => (await replicas()) === MAX, UP_LIMIT_MS);
    up = since();
  } finally {
    on = false;
    await Promise.all(load);
  }
  const stopped = since();
  await eventually(async () => (await replicas()) === before, DOWN_LIMIT_MS);
  const down = since() - stopped;
  return `${before} to ${MAX} replicas after ${up} s of load, back ${down} s after it (${(await podsOf('gateway')).length} pods)`;
}
