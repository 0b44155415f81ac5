// Runs the instructions of deploy/Dockerfile in a plain folder, so that a file missing in an image
// is found without Docker. Unless `full` is set, two instructions are replaced: packages are linked
// from this checkout instead of installed, and compiled code is copied instead of compiled.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { ROOT } from './facts';

const DOCKERFILE = join(ROOT, 'deploy/Dockerfile');
const IGNORE = join(ROOT, '.dockerignore');
const RUN_LIMIT_MS = 15 * 60_000;

interface Instruction {
  word: string;
  rest: string;
}

interface Stage {
  name: string;
  base: string;
  instructions: Instruction[];
}

/** A folder that stands for an image's file system, and the process to start in it. */
export interface Image {
  root: string;
  /** A path inside `root`. */
  workdir: string;
  user: string;
  env: Record<string, string>;
  entrypoint: string[];
  stop_signal: string;
}

function parseDockerfile(text: string): { args: Record<string, string>; stages: Stage[] } {
  const args: Record<string, string> = {};
  const stages: Stage[] = [];
  const lines = text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  for (const line of lines) {
    const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? [];
    const [, base = '', name = ''] = word === 'FROM' ? (/^(\S+) AS (\S+)$/.exec(rest) ?? []) : [];
    if (word === 'FROM') stages.push({ name, base, instructions: [] });
    else if (stages.length > 0) stages.at(-1)?.instructions.push({ word, rest });
    else if (word === 'ARG') Object.assign(args, argument(rest));
  }
  return { args, stages };
}

function argument(rest: string): Record<string, string> {
  const [name = '', value = ''] = rest.split(/=(.*)/s);
  return { [name]: value };
}

/** Runs the `build` stage in `dir`; every image copies from it. */
export function makeBuild(dir: string, { full = false } = {}): void {
  const { stages } = parseDockerfile(readFileSync(DOCKERFILE, 'utf8'));
  const build = stages.find(({ name }) => name === 'build') as Stage;
  mkdirSync(dir, { recursive: true });
  const ignored = ignoreRules(readFileSync(IGNORE, 'utf8'));
  for (const { word, rest } of build.instructions) {
    if (word === 'COPY') copyFromContext(rest, dir, ignored);
    else if (word === 'RUN') runOrReplace(rest, dir, full);
    else if (word !== 'WORKDIR')
      throw new Error(`unsupported instruction in the build stage: ${word}`);
  }
}

function copyFromContext(rest: string, dir: string, ignored: (path: string) => boolean): void {
  const words = rest.split(/\s+/);
  const to = words.pop() as string;
  for (const from of words) {
    const isFolder = !to.endsWith('/') && words.length === 1;
    cpSync(join(ROOT, from), isFolder ? join(dir, to) : join(dir, to, posix.basename(from)), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !ignored(relative(ROOT, source)),
    });
  }
}

function runOrReplace(command: string, dir: string, full: boolean): void {
  if (!full && command.startsWith('npm install ')) return linkPackages(dir);
  if (!full && command === 'npm run build') return copyCompiled(dir);
  // The compiler reports on its standard output, which an error of execFileSync leaves out.
  execFileSync('sh', ['-ec', `{ ${command}\n} 1>&2`], {
    cwd: dir,
    stdio: 'pipe',
    timeout: RUN_LIMIT_MS,
  });
}

/** Hard links are fast, and deleting files here does not change the checkout. */
function linkPackages(dir: string): void {
  for (const folder of ['.', ...workspaces()]) {
    const packages = join(ROOT, folder, 'node_modules');
    if (!existsSync(packages)) continue;
    link(packages, join(dir, folder, 'node_modules'));
  }
  unshareLocks(dir);
}

/** npm writes into these files, so they must be copies. */
function unshareLocks(dir: string): void {
  const names = [
    'package-lock.json',
    'node_modules/.package-lock.json',
    'node_modules/.installed-lock',
  ];
  for (const name of names) {
    const file = join(dir, name);
    if (!existsSync(file)) continue;
    const content = readFileSync(file);
    execFileSync('rm', [file]);
    execFileSync('sh', ['-c', 'cat > "$0"', file], { input: content });
  }
}

function copyCompiled(dir: string): void {
  for (const folder of workspaces()) {
    const compiled = join(ROOT, folder, 'dist');
    if (!existsSync(compiled)) throw new Error(`not built: ${folder}. Run make build-tests first`);
    cpSync(compiled, join(dir, folder, 'dist'), { recursive: true });
  }
  cpSync(join(ROOT, 'proto/gen'), join(dir, 'proto/gen'), { recursive: true });
}

function link(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    execFileSync('cp', ['-al', from, to], { stdio: 'pipe' });
  } catch {
    // Hard links do not work across file systems.
    execFileSync('cp', ['-a', from, to], { stdio: 'pipe' });
  }
}

function workspaces(): string[] {
  const { workspaces: patterns } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    workspaces: string[];
  };
  return patterns.flatMap((pattern) =>
    pattern.endsWith('/*')
      ? readdirSync(join(ROOT, pattern.slice(0, -2))).map((name) => pattern.slice(0, -1) + name)
      : [pattern],
  );
}

/** Runs the `packages` stage for `workspace` in `dir`, on a copy of the build stage in `build`. */
function makePackages(stages: Stage[], dir: string, build: string, workspace: string): void {
  link(build, dir);
  unshareLocks(dir);
  const stage = stages.find(({ name }) => name === 'packages') as Stage;
  for (const { word, rest } of stage.instructions) {
    if (word === 'RUN')
      execFileSync('sh', ['-ec', rest], {
        cwd: dir,
        stdio: 'pipe',
        timeout: RUN_LIMIT_MS,
        env: { ...process.env, WORKSPACE: workspace },
      });
    else if (word !== 'ARG') throw new Error(`unsupported instruction in packages: ${word}`);
  }
}

/** Makes the stage `target` in `root`, from the build stage in `build`. */
export function makeImage(
  root: string,
  options: { build: string; target: string; workspace: string },
): Image {
  const { stages } = parseDockerfile(readFileSync(DOCKERFILE, 'utf8'));
  const image: Image = {
    root,
    workdir: '/',
    user: 'root',
    env: {},
    entrypoint: [],
    stop_signal: '',
  };
  const packages = `${root}-packages`;
  makePackages(stages, packages, options.build, options.workspace);
  const args: Record<string, string> = {};
  for (const { word, rest } of lineage(stages, options.target)) {
    const text = rest.replaceAll(/\$\{(\w+)\}/g, (_all, name: string) => args[name] ?? '');
    if (word === 'ARG') Object.assign(args, argument(rest), given(rest, options.workspace));
    else if (word === 'WORKDIR') image.workdir = posix.resolve(image.workdir, text);
    else if (word === 'COPY') copyFromStage(text, image, packages);
    else if (word === 'ENV') Object.assign(image.env, argument(text));
    else if (word === 'USER') image.user = text;
    else if (word === 'ENTRYPOINT') image.entrypoint = JSON.parse(text) as string[];
    else if (word === 'STOPSIGNAL') image.stop_signal = text;
    else if (word !== 'LABEL')
      throw new Error(`unsupported instruction in ${options.target}: ${word}`);
  }
  rmSync(packages, { recursive: true });
  return image;
}

const given = (rest: string, workspace: string): Record<string, string> =>
  rest.startsWith('WORKSPACE=') ? { WORKSPACE: workspace } : {};

/** The instructions of a stage, preceded by those of its base stages. */
function lineage(stages: Stage[], name: string): Instruction[] {
  const stage = stages.find((one) => one.name === name);
  return stage ? [...lineage(stages, stage.base), ...stage.instructions] : [];
}

function copyFromStage(text: string, image: Image, stage: string): void {
  const [, from = '', to = ''] = /^--from=packages \/src\/(\S+) (\S+)$/.exec(text) ?? [];
  if (from === '') throw new Error(`unsupported instruction: COPY ${text}`);
  const target = join(image.root, posix.resolve(image.workdir, to));
  const source = join(stage, from);
  if (!existsSync(source)) throw new Error(`COPY ${text}: not in the stage before`);
  if (to === './') {
    mkdirSync(target, { recursive: true });
    cpSync(source, join(target, posix.basename(from)));
  } else link(source, target);
}

/** Docker's rules: the last matching pattern decides, and a folder's match covers its files. */
export function ignoreRules(text: string): (path: string) => boolean {
  const rules = text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const keeps = line.startsWith('!');
      return { keeps, pattern: patternOf(keeps ? line.slice(1) : line) };
    });
  return (path) => {
    if (path === '') return false;
    let ignored = false;
    for (const { keeps, pattern } of rules) if (pattern.test(path)) ignored = !keeps;
    return ignored;
  };
}

/** The relative imports of TypeScript files in the build stage that name a file left out of it. */
export function importsLeftOut(): string[] {
  const ignored = ignoreRules(readFileSync(IGNORE, 'utf8'));
  const listed = execFileSync('git', ['ls-files', '*.ts'], { cwd: ROOT, encoding: 'utf8' });
  const files = listed.split('\n').filter((file) => existsSync(join(ROOT, file)));
  // Files that are not in git are made by the build itself.
  const leftOut = new Set(files.filter(ignored));
  return files
    .filter((file) => file !== '' && !ignored(file))
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/from '(\.{1,2}\/[^']+)'/g)]
        .map(([, path = '']) => posix.join(dirname(file), path))
        .filter((path) => leftOut.has(`${path}.ts`))
        .map((path) => `${file} imports ${path}`),
    );
}

function patternOf(glob: string): RegExp {
  const source = glob
    .split('/')
    .map((part) =>
      part === '**' ? '.*' : part.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*'),
    )
    .join('/')
    .replaceAll('.*/', '(?:.*/)?');
  return new RegExp(`^${source}(?:/.*)?$`);
}
