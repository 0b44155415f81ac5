// KEDA, which scales on the consumer lag, and what the autoscalers have measured.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDER, STATE } from './facts';
import { kubectl } from './kubectl';
import { json } from './release';
import { run } from './run';

const MODULE = join(FOLDER, 'scaling');
const READY_LIMIT_MS = 190_000;

/** Applies the manifests of KEDA's own module. */
export async function addScaling(): Promise<void> {
  const source = await run('go', ['list', '-m', '-f', '{{.Dir}}', 'github.com/kedacore/keda/v2'], {
    cwd: MODULE,
  });
  const folder = join(STATE, 'keda');
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(source.trim(), 'config'), join(folder, 'config'), { recursive: true });
  cpSync(join(MODULE, 'kustomization.yaml'), join(folder, 'kustomization.yaml'));
  // Its definitions are too large for the annotation of a client-side apply.
  await kubectl(['apply', '--server-side', '--force-conflicts', '--kustomize', folder]);
  for (const name of ['keda-operator', 'keda-metrics-apiserver']) {
    const rollout = ['rollout', 'status', `deployment/${name}`, '--namespace', 'keda'];
    await kubectl([...rollout, '--timeout=180s'], { limit_ms: READY_LIMIT_MS });
  }
}

interface Measured {
  type: string;
  external?: { metric: { name: string }; current: { averageValue?: string } };
  resource?: { name: string; current: { averageUtilization?: number } };
}

interface Autoscaler {
  metadata: { name: string };
  spec: { metrics: unknown[]; scaleTargetRef: { name: string } };
  status: { currentMetrics?: Measured[] | null };
}

/** The autoscalers of the release. */
export const autoscalers = async (): Promise<Autoscaler[]> =>
  (await json<{ items: Autoscaler[] }>(['get', 'HorizontalPodAutoscalers'])).items;

/** Whether every metric of an autoscaler has a value: a lag that KEDA cannot read has none. */
export const isMeasured = ({ spec, status }: Autoscaler): boolean => {
  const values = (status.currentMetrics ?? []).filter(
    ({ external, resource }) =>
      external?.current.averageValue !== undefined ||
      resource?.current.averageUtilization !== undefined,
  );
  return values.length === spec.metrics.length;
};
