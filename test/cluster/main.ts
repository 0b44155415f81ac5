// make cluster-test: runs the checks on the cluster of make cluster-up, prints them as a table, and
// writes deploy/cluster/RESULTS.md after a complete run.
import { randomInt } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CHECKS, type Check } from './checks';
import type { Options } from './options';
import { FOLDER, HELM, STATE } from './facts';
import { kubectl, requireOwnCluster } from './kubectl';
import { run } from './run';

const HELP = `make cluster-test [MINUTES=10] [SEED=4711] [ONLY=install,upgrade]

MINUTES is the length of the random kills. ONLY runs some of the checks, in the order of this list:
  ${CHECKS.map(({ id, title }) => `${id.padEnd(13)} ${title}`).join('\n  ')}`;

interface Result {
  check: Check;
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
  const unknown = wanted.filter((id) => !CHECKS.some((check) => check.id === id));
  if (unknown.length > 0) throw new Error(`unknown check ${unknown.join(', ')}: see --help`);
  await requireOwnCluster();
  const chosen = CHECKS.filter(({ id }) => wanted.length === 0 || wanted.includes(id));
  console.log(`SEED=${options.seed} MINUTES=${options.minutes}`);
  const results: Result[] = [];
  // A request whose connection is lost may leave nothing that keeps Node.js running: it would end
  // as if all was well.
  const running = setInterval(() => undefined, 1_000);
  for (const check of chosen) results.push(await runCheck(check, options));
  clearInterval(running);
  const page = await report(results, options);
  mkdirSync(STATE, { recursive: true });
  writeFileSync(join(wanted.length === 0 ? FOLDER : STATE, 'RESULTS.md'), page);
  console.log(page);
  if (results.some(({ passed }) => !passed)) process.exitCode = 1;
}

async function runCheck(check: Check, options: Options): Promise<Result> {
  console.log(`${check.title} ...`);
  const began = performance.now();
  const ended = (passed: boolean, details: string): Result => {
    const seconds = Math.round((performance.now() - began) / 1_000);
    console.log(`  ${passed ? 'passed' : 'FAILED'} after ${seconds} s: ${details}`);
    return { check, seconds, passed, details };
  };
  try {
    return ended(true, await check.run(options));
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
    ({ check, seconds, passed, details }) =>
      `| ${check.title} | ${passed ? 'passed' : '**failed**'} | ${seconds} s | ${cell(details)} |`,
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
