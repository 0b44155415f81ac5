// KEDA, which scales on the consumer lag, and what the autoscalers have measured.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../testkit/eventually';
import { FOLDER, STATE } from './facts';
import { kubectl, rolledOut } from './kubectl';
import { json } from './release';
import { run } from './run';

const MODULE = join(FOLDER, 'scaling');
const READY_LIMIT_S = 180;
const MEASURED_LIMIT_MS = 180_000;

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
    await rolledOut('keda', `deployment/${name}`, READY_LIMIT_S);
  }
}

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
