// Volumes for the trial's engines: folders of the first node, so that the engines run there.
import { docker } from './docker';
import { NODES, VOLUME_FOLDER, VOLUMES } from './facts';
import { kubectl } from './kubectl';

/** Adds what is missing; `empty` removes what earlier releases have left in the folders. */
export async function addVolumes({ empty = false } = {}): Promise<void> {
  const [node] = NODES as [(typeof NODES)[number]];
  const folders = Array.from({ length: VOLUMES }, (_unused, index) => `${VOLUME_FOLDER}/${index}`);
  if (empty) await docker(['exec', node.name, 'rm', '-rf', ...folders]);
  await docker(['exec', node.name, 'mkdir', '-p', ...folders]);
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
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'kubernetes.io/hostname', operator: 'In', values: [node.name] },
              ],
            },
          ],
        },
      },
    },
  }));
  await kubectl(['apply', '--filename', '-'], {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: volumes }),
  });
}
