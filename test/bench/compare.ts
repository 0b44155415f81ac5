// make bench-compare BASE=<ref>: measures the services of another commit and of this checkout in
// turns, with this driver, and prints the ratios. Other load on the machine then favours neither.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SERVICE_NAMES, SERVICES } from '@bmg/local';
import { quantile, spread } from './load';
import { ROOT } from './mesh';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);

interface Figures {
  per_second: number;
  cpu_s: number;
}
type Run = Record<string, Figures>;

/** Checks out and builds the commit, with hard links to the packages installed here. */
function buildBase(ref: string, dir: string): void {
  execFileSync('git', ['worktree', 'add', '--detach', dir, ref], { cwd: ROOT, stdio: 'inherit' });
  const manifests = execFileSync('git', ['ls-files', '*package.json'], { cwd: ROOT });
  for (const folder of String(manifests).trim().split('\n').map(dirname)) {
    const modules = join(ROOT, folder, 'node_modules');
    if (existsSync(modules) && existsSync(join(dir, folder))) {
      execFileSync('cp', ['-al', modules, join(dir, folder, 'node_modules')]);
    }
  }
  const run = (command: string, args: string[]): void => {
    execFileSync(command, args, { cwd: dir, stdio: 'inherit' });
  };
  run('npm', ['run', '--silent', 'generate', '-w', 'proto']);
  run('npx', ['tsc', '-b', ...SERVICE_NAMES.map((name) => SERVICES[name].workspace)]);
}

function measure(root: string, file: string): void {
  const main = join(ROOT, 'test/dist/bench/main.js');
  const { status } = spawnSync(process.execPath, [main, 'events'], {
    stdio: 'inherit',
    env: { ...process.env, BENCH_SHORT: '1', BENCH_ROOT: root, BENCH_RESULT: file },
  });
  if (status !== 0) throw new Error(`the benchmark of ${root} failed`);
}

function tell(base: Run[], here: Run[]): void {
  console.log(`\nmedian of ${ROUNDS} rounds, and the lowest and highest`);
  for (const name of Object.keys(here[0] ?? {})) {
    for (const figure of ['per_second', 'cpu_s'] as const) {
      const of = (runs: Run[]): number[] => runs.map((run) => run[name]?.[figure] ?? 0);
      const ratio = quantile(of(here), 0.5) / quantile(of(base), 0.5);
      console.log(
        `  ${name.padEnd(6)} ${figure.padEnd(10)} base ${spread(of(base), 3)}   ` +
          `here ${spread(of(here), 3)}   ratio ${ratio.toFixed(2)}`,
      );
    }
  }
}

function main(): void {
  const ref = process.argv[2];
  if (!ref) throw new Error('name the commit to compare with: make bench-compare BASE=<ref>');
  const dir = mkdtempSync(join(tmpdir(), 'bmg-compare-'));
  const tree = join(dir, 'base');
  const files = { base: join(dir, 'base.jsonl'), here: join(dir, 'here.jsonl') };
  try {
    buildBase(ref, tree);
    for (let round = 1; round <= ROUNDS; round += 1) {
      console.log(`\n--- round ${round}, ${ref}`);
      measure(tree, files.base);
      console.log(`\n--- round ${round}, this checkout`);
      measure(ROOT, files.here);
    }
    const read = (file: string): Run[] =>
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Run);
    tell(read(files.base), read(files.here));
  } finally {
    spawnSync('git', ['worktree', 'remove', '--force', tree], { cwd: ROOT });
    rmSync(dir, { recursive: true, force: true });
  }
}

main();
