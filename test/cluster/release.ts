// The release under test: helm and kubectl with the cluster's own kubeconfig, and what the checks
// read of it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HELM, KUBECONFIG, ROOT, STATE } from './facts';
import { kubectl, rolledOut, run, words, type RunOptions } from './run';

export const NAMESPACE = 'messaging';
/** The labels of its pods. */
export const RELEASE = { 'app.kubernetes.io/name': 'bmg', 'app.kubernetes.io/instance': 'bmg' };
/** The trial's engines and their ports. */
export const ENGINES = { kafka: 9092, mongo: 27017, redis: 6379 } as const;
export const CHART = join(ROOT, 'helm');
export const TRIAL = join(CHART, 'examples/trial.yaml');
export const PRODUCTION = join(CHART, 'examples/production.yaml');
/** The limit that the chart's README has. */
export const INSTALL_LIMIT = '10m';
const ROLLOUT_LIMIT_S = 600;
const HELM_LIMIT_MS = 20 * 60_000;
export const IN_NAMESPACE = ['--namespace', NAMESPACE];

/** Helm without the user's settings, on this cluster only. */
export function runHelm(args: string[]): Promise<string> {
  const home = join(STATE, 'helm');
  mkdirSync(home, { recursive: true });
  return run(HELM, [...args, ...IN_NAMESPACE, '--kubeconfig', KUBECONFIG], {
    cwd: ROOT,
    limit_ms: HELM_LIMIT_MS,
    env: { HOME: home, XDG_CACHE_HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home },
  });
}

/** kubectl in the release's namespace. */
export const inNamespace = (args: string[], options?: RunOptions): Promise<string> =>
  kubectl([...IN_NAMESPACE, ...args], options);

export const json = async <T>(args: string[]): Promise<T> =>
  JSON.parse(await inNamespace([...args, '--output', 'json'])) as T;

export interface Pod {
  metadata: { name: string; labels: Record<string, string>; deletionTimestamp?: string };
  spec: {
    nodeName: string;
    containers: Array<{ name: string; resources: { requests?: Record<string, string> } }>;
  };
  status: {
    phase: string;
    podIP: string;
    conditions?: Array<{ type: string; status: string }>;
    containerStatuses?: Array<{ containerID?: string; restartCount: number; name: string }>;
  };
}

/** The pods of one component, or of the release. */
export const podsOf = async (component?: string): Promise<Pod[]> => {
  const label = component ? `,app.kubernetes.io/component=${component}` : '';
  const selector = `app.kubernetes.io/instance=bmg${label}`;
  return (await json<{ items: Pod[] }>(['get', 'pods', '--selector', selector])).items;
};

export const isReady = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True');

export const componentOf = ({ metadata }: Pod): string =>
  metadata.labels['app.kubernetes.io/component'] ?? '';

/** The command line in the operator's pod. */
export const bmg = async <T>(...args: string[]): Promise<T> =>
  JSON.parse(await inNamespace(words`exec deploy/bmg-operator -- bin/bmg.js --json ${args}`)) as T;

/** Values on top of the trial's, in a file that a reader can use as well. */
export function valuesFile(name: string, values: unknown): string {
  mkdirSync(STATE, { recursive: true });
  const file = join(STATE, `${name}.json`);
  writeFileSync(file, JSON.stringify(values, null, 2));
  return file;
}

/** Waits until all deployments have their replicas. */
export const untilRolledOut = async (): Promise<void> => {
  const { items } = await json<{ items: Array<Pick<Pod, 'metadata'>> }>(['get', 'deployments']);
  for (const { metadata } of items) {
    await rolledOut(NAMESPACE, `deployment/${metadata.name}`, ROLLOUT_LIMIT_S);
  }
};
