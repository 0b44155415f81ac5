// kubectl on this cluster and on no other.
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CONTEXT, ID_FILE, ID_MAP, KUBECONFIG, KUBECTL } from './facts';
import { run, type RunOptions } from './run';

/**
 * The kubeconfig and context are always named: neither a variable nor the user's file can redirect
 * a command.
 */
const OWN = ['--kubeconfig', KUBECONFIG, '--context', CONTEXT];

/** Runs it and resolves with its output. */
export async function kubectl(args: string[], options: RunOptions = {}): Promise<string> {
  return run(KUBECTL, [...OWN, ...args], options);
}

/** Waits until a workload, such as `deployment/coredns`, has its replicas. */
export const rolledOut = (namespace: string, workload: string, limit_s: number): Promise<string> =>
  kubectl(
    ['rollout', 'status', workload, '--namespace', namespace, `--timeout=${limit_s}s`],
    // kubectl gives up first, and says what is missing.
    { limit_ms: (limit_s + 10) * 1_000 },
  );

/** Throws unless the cluster behind the kubeconfig is the one that this checkout made. */
export async function requireOwnCluster(): Promise<void> {
  if (!existsSync(KUBECONFIG) || !existsSync(ID_FILE)) {
    throw new Error(`no cluster is recorded in ${dirname(KUBECONFIG)}: run make cluster-up`);
  }
  const path = ['get', 'configmap', ID_MAP, '--namespace', 'kube-system'];
  const found = await kubectl([...path, '--output', 'jsonpath={.data.id}'], { limit_ms: 20_000 });
  if (found !== readFileSync(ID_FILE, 'utf8')) {
    throw new Error(`the cluster in ${KUBECONFIG} was not made by make cluster-up in this folder`);
  }
}
