// The checks on the cluster, in order: each starts from the state that the previous one leaves.
import { autoscaling } from './autoscaling';
import { backupAndRestore } from './backup';
import { composeMesh } from './compose';
import { drainNode, killAtRandom, loseNetwork } from './faults';
import { firstMessage, helmTest, installTrial, noteResources } from './install';
import type { Options } from './options';
import { productionExample } from './production';
import { connections } from './network';
import { identities, restrictedPods } from './security';
import { hungPod, lateEngine } from './start-stop';
import { renewCertificates, upgradeAndBack } from './upgrade';

export interface Check {
  /** Selects it in ONLY=. */
  id: string;
  title: string;
  /** Returns figures for the table; throws with what was wrong. */
  run(options: Options): string | Promise<string>;
}

export const CHECKS: readonly Check[] = [
  { id: 'install', title: '`helm install` of the trial with `--wait`', run: installTrial },
  { id: 'test', title: '`helm test`', run: helmTest },
  { id: 'message', title: "The first message by the README's lines", run: firstMessage },
  {
    id: 'pods',
    title: 'Pods: `restricted` namespace, not root, read-only, no capabilities',
    run: restrictedPods,
  },
  {
    id: 'identity',
    title: 'A pod without a certificate of ours cannot call a service',
    run: identities,
  },
  {
    id: 'policies',
    title: 'Network policies: each service reaches what it calls, and nothing else',
    run: connections,
  },
  {
    id: 'upgrade',
    title: 'Upgrade of all services and `helm rollback` under traffic',
    run: upgradeAndBack,
  },
  {
    id: 'resources',
    title: 'Memory of each service after that traffic, against its request',
    run: noteResources,
  },
  {
    id: 'certificates',
    title: 'All certificates renewed by the job under traffic',
    run: renewCertificates,
  },
  { id: 'drain', title: '`kubectl drain` of a node under traffic', run: drainNode },
  { id: 'hang', title: 'A hung pod leaves the endpoints and is restarted', run: hungPod },
  { id: 'late', title: 'A pod that starts before its database waits for it', run: lateEngine },
  { id: 'network', title: 'No network between the nodes for 30 s under traffic', run: loseNetwork },
  {
    id: 'kills',
    title: 'Pods deleted and containers killed at random under traffic',
    run: killAtRandom,
  },
  {
    id: 'backup',
    title: 'Copies, loss of the namespace and all volumes, restore into an empty namespace',
    run: backupAndRestore,
  },
  {
    id: 'autoscaling',
    title: 'Replicas follow CPU and consumer lag, up and down',
    run: autoscaling,
  },
  {
    id: 'production',
    title:
      'The production example, on engines with TLS and users; all pods restarted under traffic',
    run: productionExample,
  },
  {
    id: 'compose',
    title: '`compose.mesh.yaml` with Docker Compose, and its first message',
    run: composeMesh,
  },
];
