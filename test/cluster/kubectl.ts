// kubectl on this cluster and on no other.
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CONTEXT, ID_FILE, ID_MAP, KUBECONFIG, KUBECTL } from './facts';
import { run, type RunOptions } from './run';

/** The kubeconfig and context are always named: neither a variable nor the user's file can redirect a command. */
const OWN = ['--kubeconfig', KUBECONFIG, '--context', CONTEXT];

/** Runs it and resolves with its output. */
export async function kubectl(args: string[], options: RunOptions = {}): Promise<string> {
  return run(KUBECTL, [...OWN, ...args], options);
}

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
