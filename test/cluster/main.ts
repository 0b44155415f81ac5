// make cluster-test: runs the checks on the cluster of make cluster-up, prints them as a table, and
// writes deploy/cluster/RESULTS.md after a complete run.
import { randomInt } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { autoscaling } from './autoscaling';
import { backupAndRestore } from './backup';
import { composeMesh } from './compose';
import { FOLDER, HELM, STATE } from './facts';
import { drainNode, killAtRandom, loseNetwork } from './faults';
import { firstMessage, helmTest, installTrial, noteResources } from './install';
import { connections } from './network';
import { productionExample } from './production';
import { kubectl, requireOwnCluster, run, stopwatch } from './run';
import { identities, restrictedPods } from './security';
import { hungPod, lateEngine } from './start-stop';
import type { Options } from './traffic';
import { renewCertificates, upgradeAndBack } from './upgrade';

type Check = readonly [title: string, run: (options: Options) => string | Promise<string>];

/**
 * The checks by their name in ONLY=, in order: each starts from the state that the previous one
 * leaves. It returns figures for the table, and throws with what was wrong.
 */
const CHECKS: Readonly<Record<string, Check>> = {
  install: ['`helm install` of the trial with `--wait`', installTrial],
  test: ['`helm test`', helmTest],
  message: ["The first message by the README's lines", firstMessage],
  pods: ['Pods: `restricted` namespace, not root, read-only, no capabilities', restrictedPods],
  identity: ['A pod without a certificate of ours cannot call a service', identities],
  policies: ['Network policies: each service reaches what it calls, and nothing else', connections],
  upgrade: ['Upgrade of all services and `helm rollback` under traffic', upgradeAndBack],
  resources: ['Memory of each service after that traffic, against its request', noteResources],
  certificates: ['All certificates renewed by the job under traffic', renewCertificates],
  drain: ['`kubectl drain` of a node under traffic', drainNode],
  hang: ['A hung pod leaves the endpoints and is restarted', hungPod],
  late: ['A pod that starts before its database waits for it', lateEngine],
  network: ['No network between the nodes for 30 s under traffic', loseNetwork],
  kills: ['Pods deleted and containers killed at random under traffic', killAtRandom],
  backup: [
    'Copies, loss of the namespace and all volumes, restore into an empty namespace',
    backupAndRestore,
  ],
  autoscaling: ['Replicas follow CPU and consumer lag, up and down', autoscaling],
  production: [
    'The production example, on engines with TLS and users; all pods restarted under traffic',
    productionExample,
  ],
  compose: ['`compose.mesh.yaml` with Docker Compose, and its first message', composeMesh],
};

const HELP = `make cluster-test [MINUTES=10] [SEED=4711] [ONLY=install,upgrade]

MINUTES is the length of the random kills. ONLY runs some of the checks, in the order of this list:
  ${Object.entries(CHECKS)
    .map(([id, [title]]) => `${id.padEnd(13)} ${title}`)
    .join('\n  ')}`;

interface Result {
  title: string;
  seconds: number;
  passed: boolean;
  details: string;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string', default: '' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(HELP);
  const options: Options = {
    minutes: Number(values.minutes),
    seed: values.seed === '' ? randomInt(1, 1_000_000) : Number(values.seed),
  };
  if (!(options.minutes > 0 && options.minutes <= 60) || !Number.isInteger(options.seed)) {
    throw new Error('MINUTES must be between 0 and 60, SEED a whole number');
  }
  const wanted = values.only.split(',').filter(Boolean);
  const unknown = wanted.filter((id) => !(id in CHECKS));
  if (unknown.length > 0) throw new Error(`unknown check ${unknown.join(', ')}: see --help`);
  await requireOwnCluster();
  const chosen = Object.entries(CHECKS).filter(
    ([id]) => wanted.length === 0 || wanted.includes(id),
  );
  console.log(`SEED=${options.seed} MINUTES=${options.minutes}`);
  const results: Result[] = [];
  // A request whose connection is lost may leave nothing that keeps Node.js running: it would end
  // as if all was well.
  const running = setInterval(() => undefined, 1_000);
  for (const [, check] of chosen) results.push(await runCheck(check, options));
  clearInterval(running);
  const page = await report(results, options);
  mkdirSync(STATE, { recursive: true });
  writeFileSync(join(wanted.length === 0 ? FOLDER : STATE, 'RESULTS.md'), page);
  console.log(page);
  if (results.some(({ passed }) => !passed)) process.exitCode = 1;
}

async function runCheck([title, check]: Check, options: Options): Promise<Result> {
  console.log(`${title} ...`);
  const since = stopwatch();
  const ended = (passed: boolean, details: string): Result => {
    const seconds = since();
    console.log(`  ${passed ? 'passed' : 'FAILED'} after ${seconds} s: ${details}`);
    return { title, seconds, passed, details };
  };
  try {
    return ended(true, await check(options));
  } catch (error) {
    return ended(false, (error as Error).message);
  }
}

/** The table, with what it ran on. */
async function report(results: Result[], { seed, minutes }: Options): Promise<string> {
  const versions = JSON.parse(await kubectl(['version', '--output', 'json'])) as {
    serverVersion: { gitVersion: string };
  };
  const [node] = (
    JSON.parse(await kubectl(['get', 'nodes', '--output', 'json'])) as {
      items: Array<{
        status: { nodeInfo: { containerRuntimeVersion: string; kernelVersion: string } };
      }>;
    }
  ).items;
  const { containerRuntimeVersion: runtime, kernelVersion: kernel } = node?.status.nodeInfo ?? {};
  const revision = (await run('git', ['rev-parse', '--short', 'HEAD'])).trim();
  const helm_version = (await run(HELM, ['version', '--template', '{{.Version}}'])).trim();
  const gigabytes = Math.round(totalmem() / 1024 ** 3);
  const cell = (text: string): string =>
    text.replaceAll('|', '\\|').split('\n').slice(0, 6).join('<br>');
  const rows = results.map(
    ({ title, seconds, passed, details }) =>
      `| ${title} | ${passed ? 'passed' : '**failed**'} | ${seconds} s | ${cell(details)} |`,
  );
  return `# Results of \`make cluster-test\`

Written by the command on ${new Date().toISOString().slice(0, 10)}, at revision
\`${revision}\`, with \`SEED=${seed} MINUTES=${minutes}\`.

- Kubernetes ${versions.serverVersion.gitVersion}, ${runtime}, Linux ${kernel}
- Helm ${helm_version}
- ${cpus().length} processors, ${gigabytes} GiB of memory for the whole cluster

| Check | Result | Time | Figures |
|---|---|---|---|
${rows.join('\n')}
`;
}

main().catch((error: unknown) => {
  console.error((error as Error).message);
  process.exitCode = 1;
});
