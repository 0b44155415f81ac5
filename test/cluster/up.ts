// make cluster-up: builds or takes from the cache all programs and images, and starts the cluster
// or what is missing of it.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { docker, startDocker } from './docker';
import { CONTROL, ID_FILE, ID_MAP, KUBECONFIG, NODES, STATE } from './facts';
import { buildImages, imageId, manifestFiles } from './images';
import { makeKeys } from './keys';
import { loadImages, startMachines } from './machines';
import { addScaling, addVolumes } from './parts';
import { buildPrograms } from './programs';
import { kubectl, requireOwnCluster, rolledOut, step, until, words } from './run';

const READY_LIMIT_MS = 180_000;

async function main(): Promise<void> {
  const began = performance.now();
  mkdirSync(STATE, { recursive: true });
  await step('Docker', startDocker);
  await buildPrograms();
  const tags = await buildImages();
  await step('keys and certificates', makeKeys);
  await step('machines', startMachines);
  await step('API server', () =>
    until('the API server does not answer', READY_LIMIT_MS, () =>
      kubectl(['get', '--raw', '/readyz']),
    ),
  );
  await claim();
  for (const node of NODES) await step(`images into ${node.name}`, () => load(node.name, tags));
  await step('DNS, storage, metrics', addParts);
  await step('KEDA', addScaling);
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  console.log(
    `The cluster is up after ${minutes} minutes. make cluster-test runs the checks; for your own commands:`,
  );
  console.log(`  export KUBECONFIG=${KUBECONFIG}`);
}

/** Writes the id of this cluster once; a cluster with another id is refused. */
async function claim(): Promise<void> {
  if (!existsSync(ID_FILE)) {
    const id = randomUUID();
    await kubectl(
      words`create configmap ${ID_MAP} --namespace kube-system --from-literal=id=${id}`,
    );
    writeFileSync(ID_FILE, id);
  }
  await requireOwnCluster();
}

/** Copies the images that a node does not have yet. */
async function load(name: string, tags: string[]): Promise<void> {
  const node = NODES.find((one) => one.name === name) as (typeof NODES)[number];
  const file = join(STATE, `images-${name}.json`);
  const loaded = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>)
    : {};
  const ids: Record<string, string> = {};
  for (const tag of tags) ids[tag] = await imageId(tag);
  const missing = tags.filter((tag) => loaded[tag] !== ids[tag]);
  if (missing.length === 0) return;
  await until('containerd does not answer', READY_LIMIT_MS, () =>
    docker(['exec', name, 'ctr', 'version']),
  );
  await loadImages(node, missing);
  writeFileSync(file, JSON.stringify(ids));
}

async function addParts(): Promise<void> {
  for (const file of manifestFiles()) await kubectl(['apply', '--filename', file]);
  await addVolumes();
  await until('the nodes are not ready', READY_LIMIT_MS, () =>
    kubectl(words`wait node --all --for=condition=Ready --timeout=5s`),
  );
  for (const name of ['coredns', 'metrics-server']) {
    await rolledOut('kube-system', `deployment/${name}`, READY_LIMIT_MS / 1_000);
  }
}

main().catch((error: unknown) => {
  console.error(
    `\n${(error as Error).message}\nmachine logs: docker exec ${CONTROL.name} ls /var/log/bmg`,
  );
  process.exitCode = 1;
});
