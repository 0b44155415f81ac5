// make bench-compare BASE=<ref>: measures the backlogs of `events` with the services of another
// commit and with those of this checkout in turns, and prints the ratios. Other load on the machine
// then favours neither.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SERVICE_NAMES, SERVICES } from '@bmg/local';
import { measureBacklogs, PARTNERS } from './events';
import { tell, type Run } from './load';
import { ROOT, withMesh } from './mesh';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);

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

async function main(): Promise<void> {
  const ref = process.argv[2];
  if (!ref) throw new Error('name the commit to compare with: make bench-compare BASE=<ref>');
  const dir = mkdtempSync(join(tmpdir(), 'bmg-compare-'));
  const tree = join(dir, 'base');
  try {
    buildBase(ref, tree);
    const base: Record<string, Run[]> = {};
    const here: Record<string, Run[]> = {};
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const [name, root, all] of [
        [ref, tree, base],
        ['this checkout', ROOT, here],
      ] as const) {
        console.log(`\n--- round ${round}, ${name}`);
        const runs = await withMesh(PARTNERS, (mesh) => measureBacklogs(mesh, 1), { root });
        for (const [load, measured] of Object.entries(runs)) (all[load] ??= []).push(...measured);
      }
    }
    for (const [load, runs] of Object.entries(here)) {
      tell(`${load}, ${ref}`, base[load] ?? []);
      tell(`${load}, this checkout`, runs, base[load]);
    }
  } finally {
    spawnSync('git', ['worktree', 'remove', '--force', tree], { cwd: ROOT });
    rmSync(dir, { recursive: true, force: true });
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
