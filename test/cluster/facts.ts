// Names, addresses and folders of the test cluster.
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { RUN_DIR } from '@bmg/local';

export const ROOT = dirname(RUN_DIR);
export const FOLDER = join(ROOT, 'deploy/cluster');
/** What belongs to the running cluster: `make cluster-down` removes it. */
export const STATE = join(RUN_DIR, 'cluster');
/** Programs and images of all checkouts on this machine. */
export const CACHE = join(
  process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
  'bmg-cluster',
);
export const PROGRAMS = join(CACHE, 'programs');
export const HELM = join(PROGRAMS, 'helm');
export const KUBECTL = join(PROGRAMS, 'kubectl');

/** The kubeconfig that every command uses: the user's own is never read or written. */
export const KUBECONFIG = join(STATE, 'kubeconfig');
export const CONTEXT = 'bmg-cluster';
/**
 * Identifies the cluster that this checkout made; the cluster holds it in a ConfigMap of
 * kube-system.
 */
export const ID_FILE = join(STATE, 'id');
export const ID_MAP = 'bmg-cluster';

export const NETWORK = 'bmg-cluster';
export const NETWORK_RANGE = '172.29.31.0/24';
/** The address of the host on that network: pods reach receivers of the tests there. */
export const HOST_ADDRESS = '172.29.31.1';

export interface Machine {
  name: string;
  role: 'control' | 'node';
  address: string;
  pod_range: string;
  memory: string;
}

export const CONTROL: Machine = {
  name: 'bmg-cluster-control',
  role: 'control',
  address: '172.29.31.10',
  pod_range: '',
  memory: '2g',
};
export const NODES: readonly Machine[] = [1, 2].map((serial) => ({
  name: `bmg-cluster-node-${serial}`,
  role: 'node' as const,
  address: `172.29.31.1${serial}`,
  pod_range: `10.244.${serial}.0/24`,
  memory: '7g',
}));
export const MACHINES = [CONTROL, ...NODES];

/** Ports of 127.0.0.1 and the ports of the nodes behind them. */
export const API_PORT = 16_443;
export const NODE_PORTS = { gateway: 30_080, webhooks: 30_081, emulator: 30_090 } as const;

/** Folders of node-1 that become volumes. */
export const VOLUMES = 6;
export const VOLUME_FOLDER = '/var/lib/bmg-volumes';
