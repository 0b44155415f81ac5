// The trial installation, by the lines of the chart's README.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KUBECONFIG, PROGRAMS, ROOT } from './facts';
import { addVolumes } from './parts';
import {
  CHART,
  INSTALL_LIMIT,
  NAMESPACE,
  TRIAL,
  componentOf,
  podsOf,
  runHelm,
  bmg,
} from './release';
import { kubectl, run, stopwatch, words } from './run';

const GONE_LIMIT_MS = 240_000;
/** Instead of 8080, which another program of this machine may use. */
const LOCAL_PORT = '18080';

/** Removes an earlier release with its namespace and volumes, and makes both again. */
export async function startFromNothing(): Promise<void> {
  const gone = { limit_ms: GONE_LIMIT_MS };
  await kubectl(words`delete namespace ${NAMESPACE} --ignore-not-found --timeout=200s`, gone);
  await kubectl(words`delete persistentvolume --all --timeout=60s`, gone);
  await addVolumes({ empty: true });
  await kubectl(['create', 'namespace', NAMESPACE]);
  const restricted = ['enforce', 'warn'].map(
    (mode) => `pod-security.kubernetes.io/${mode}=restricted`,
  );
  await kubectl(words`label namespace ${NAMESPACE} ${restricted}`);
}

/**
 * Installs with `--wait`. Returns how many pods were ready after how many seconds; a restart is an
 * error.
 */
export async function installRelease(values: string[]): Promise<string> {
  const since = stopwatch();
  await runHelm(words`install bmg ${CHART} ${values} --wait --timeout ${INSTALL_LIMIT}`);
  const seconds = since();
  const restarts = (await podsOf()).flatMap(({ metadata, status }) =>
    (status.containerStatuses ?? [])
      .filter(({ restartCount }) => restartCount > 0)
      .map(({ restartCount }) => `${metadata.name} ${restartCount}`),
  );
  if (restarts.length > 0) throw new Error(`containers were restarted: ${restarts.join(', ')}`);
  return `${(await podsOf()).length} pods ready after ${seconds} s, no restart`;
}

export async function installTrial(): Promise<string> {
  await startFromNothing();
  return installRelease(['--values', TRIAL]);
}

export async function helmTest(): Promise<string> {
  const output = await runHelm(words`test bmg --logs --timeout 5m`);
  if (!output.includes('message read: webhook, Kafka and the message record work'))
    throw new Error(output);
  return 'the message was read';
}

/** Runs the block of the README that sends the first message by hand. */
export async function firstMessage(): Promise<string> {
  const readme = readFileSync(join(CHART, 'README.md'), 'utf8');
  const block = /The same by hand:\n\n```sh\n([\s\S]+?)```/.exec(readme)?.[1];
  if (!block) throw new Error('helm/README.md has no lines for a first message');
  const created = await bmg<{ partner_key: string }>(
    'partner',
    'create',
    '--name',
    'First partner',
  );
  const script = block
    .replace('8080 &', `${LOCAL_PORT}:8080 >/dev/null &\nsleep 3`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${LOCAL_PORT}`);
  const output = await run('bash', ['-euc', `trap 'kill %1' EXIT\n${script}`], {
    cwd: ROOT,
    env: { KUBECONFIG, KEY: created.partner_key, PATH: `${PROGRAMS}:${process.env['PATH']}` },
  });
  const id = /"message_id":"(wamid\.[^"]+)"/.exec(output)?.[1];
  if (!id) throw new Error(`no message was sent:\n${output.slice(-2_000)}`);
  return `sent ${id.slice(0, 16)}…`;
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
};

/** `250m` and `12345n` of a processor, `256Mi` and `1234Ki` of memory: in processors and bytes. */
export function quantity(text: string): number {
  const [, amount, unit = ''] = /^([\d.]+)([a-zA-Z]*)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (amount === undefined || factor === undefined) throw new Error(`${text} is no quantity`);
  return Number(amount) * factor;
}

interface Usage {
  items: Array<{
    metadata: { name: string };
    containers: Array<{ usage: { cpu: string; memory: string } }>;
  }>;
}

/** Use of each service at this moment, the highest of its pods, as "memory of request". */
export async function noteResources(): Promise<string> {
  const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${NAMESPACE}/pods`;
  const { items } = JSON.parse(await kubectl(['get', '--raw', path])) as Usage;
  const used = new Map(
    items.map(({ metadata, containers }) => [metadata.name, containers[0]?.usage]),
  );
  const rows = new Map<string, string>();
  const above: string[] = [];
  for (const pod of await podsOf()) {
    const usage = used.get(pod.metadata.name);
    const requests = pod.spec.containers[0]?.resources.requests;
    if (!usage || !requests?.['memory']) continue;
    const name = componentOf(pod);
    const [memory, wanted] = [quantity(usage.memory), quantity(requests['memory'])].map((one) =>
      Math.round(one / 1024 ** 2),
    ) as [number, number];
    rows.set(name, `${name} ${memory} of ${wanted} MiB`);
    if (memory > wanted) above.push(`${name} uses ${memory} MiB, requests ${wanted}`);
  }
  if (rows.size === 0) throw new Error('the metrics API returned no pod');
  if (above.length > 0) throw new Error(above.join(', '));
  return [...rows.values()].join(', ');
}
