// What the cluster has beside its machines: volumes, and KEDA, which scales on the consumer lag.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { docker } from './docker';
import { FOLDER, NODES, STATE, VOLUME_FOLDER, VOLUMES } from './facts';
import { KEDA, sourceOf } from './programs';
import { apply, kubectl, rolledOut, words } from './run';

const SCALING = join(FOLDER, 'scaling');
const READY_LIMIT_S = 180;

/**
 * Volumes for the trial's engines: folders of the first node, so that the engines run there. Adds
 * what is missing; `empty` removes what earlier releases have left in the
 * folders.
 */
export async function addVolumes({ empty = false } = {}): Promise<void> {
  const [node] = NODES as [(typeof NODES)[number]];
  const folders = Array.from({ length: VOLUMES }, (_unused, index) => `${VOLUME_FOLDER}/${index}`);
  if (empty) await docker(words`exec ${node.name} rm -rf ${folders}`);
  await docker(words`exec ${node.name} mkdir -p ${folders}`);
  const host = { key: 'kubernetes.io/hostname', operator: 'In', values: [node.name] };
  const volumes = folders.map((path, index) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `local-${index}` },
    spec: {
      capacity: { storage: '4Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local',
      persistentVolumeReclaimPolicy: 'Retain',
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [host] }] } },
    },
  }));
  await apply(volumes);
}

/** Applies the manifests of KEDA's own module. */
export async function addScaling(): Promise<void> {
  const folder = join(STATE, 'keda');
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(await sourceOf(KEDA), 'config'), join(folder, 'config'), { recursive: true });
  cpSync(join(SCALING, 'kustomization.yaml'), join(folder, 'kustomization.yaml'));
  // Its definitions are too large for the annotation of a client-side apply.
  await kubectl(words`apply --server-side --force-conflicts --kustomize ${folder}`);
  for (const name of ['keda-operator', 'keda-metrics-apiserver']) {
    await rolledOut('keda', `deployment/${name}`, READY_LIMIT_S);
  }
}
