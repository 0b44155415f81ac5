// Programs that check the chart, built from the Go module proxy once into .run/tools: helm, kubeconform, and
// what they check against, the schemas of Kubernetes (PyPI) and of compose (Go). What cannot be had is said
// in one line, and the tests that need it are skipped.
import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../../deploy/local/src/tools';
import { ROOT } from './facts';

export const TOOLS = join(ROOT, '.run', 'tools');
const BUILD_LIMIT_MS = 15 * 60_000;
const FETCH_LIMIT_MS = 5 * 60_000;

/** Built by `go install module@version`; the version is part of the file's name, so that a new one is built. */
const PROGRAMS = {
  helm: { module: 'helm.sh/helm/v3/cmd/helm', version: 'v3.17.3' },
  kubeconform: { module: 'github.com/yannh/kubeconform/cmd/kubeconform', version: 'v0.6.7' },
} as const;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** True where Go is; says once that the checks are left out otherwise. */
export const hasGo = ((): boolean => {
  const found = findProgram('go', process.env) !== undefined;
  if (!found) say('helm checks: not run, since Go is not installed (https://go.dev/dl)');
  return found;
})();

const goEnvironment = (dir: string): NodeJS.ProcessEnv => ({
  ...process.env,
  GOBIN: dir,
  GOTOOLCHAIN: 'local',
  CGO_ENABLED: '0',
});

type ProgramName = keyof typeof PROGRAMS;

const fileOf = (name: ProgramName): string => join(TOOLS, `${name}-${PROGRAMS[name].version}`);

/** Names the process that builds them all meanwhile. */
const BUILDER = join(TOOLS, 'builder.pid');

/**
 * Builds what is missing in the background: compiling takes minutes, and most tests leave the processors idle.
 * Whoever calls `program` meanwhile waits.
 */
export function buildAhead(): void {
  const missing = (Object.keys(PROGRAMS) as ProgramName[]).filter(
    (name) => !existsSync(fileOf(name)),
  );
  if (missing.length === 0 || !findProgram('go', process.env) || isBuilding()) return;
  const fresh = join(TOOLS, `fresh-ahead-${process.pid}`);
  mkdirSync(fresh, { recursive: true });
  const build = missing.map((name) => {
    const { module, version } = PROGRAMS[name];
    return `go install -trimpath ${module}@${version} && mv ${fresh}/${name} ${fileOf(name)}`;
  });
  const script = `${build.join('; ')}; rm -rf ${fresh}`;
  const builder = spawn('nice', ['-n', '15', 'sh', '-c', script], {
    env: goEnvironment(fresh),
    stdio: 'ignore',
    detached: true,
  });
  builder.once('error', () => undefined);
  builder.unref();
  writeFileSync(BUILDER, String(builder.pid));
}

function isBuilding(): boolean {
  try {
    process.kill(Number(readFileSync(BUILDER, 'utf8')), 0);
    return true;
  } catch {
    return false;
  }
}

const LOOK_EVERY_MS = 500;
const waiting = new Int32Array(new SharedArrayBuffer(4));

/** The path of a program, which is built at the first call. */
export function program(name: ProgramName): string {
  const { module, version } = PROGRAMS[name];
  const file = fileOf(name);
  const until = Date.now() + BUILD_LIMIT_MS;
  while (!existsSync(file) && isBuilding() && Date.now() < until) {
    Atomics.wait(waiting, 0, 0, LOOK_EVERY_MS);
  }
  if (existsSync(file)) return file;
  say(`helm checks: building ${name} ${version}, once (minutes) ...`);
  const fresh = join(TOOLS, `fresh-${process.pid}`);
  mkdirSync(fresh, { recursive: true });
  try {
    execFileSync('nice', ['-n', '10', 'go', 'install', '-trimpath', `${module}@${version}`], {
      env: goEnvironment(fresh),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: BUILD_LIMIT_MS,
    });
    renameSync(join(fresh, name), file);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return file;
}

/** Of kubernetes-validate, which holds the schemas of every release since 1.25. */
const SCHEMAS = 'kubernetes-validate==1.37.0';
/** The oldest release that the chart is for, and the newest that there is. */
export const KUBERNETES = ['1.27.0', '1.37.0'];

/** The folder with the schemas of one release, refusing unknown fields; fetched with pip at the first call. */
export function kubernetesSchemas(release: string): string | undefined {
  const folder = (of: string): string => join(TOOLS, `kubernetes-${of}`);
  if (existsSync(folder(release))) return folder(release);
  const python = findProgram('python3', process.env);
  if (!python) return undefined;
  say('helm checks: fetching the schemas of Kubernetes, once ...');
  const fresh = join(TOOLS, `fresh-${process.pid}`);
  const quiet = { stdio: 'pipe', timeout: FETCH_LIMIT_MS, cwd: fresh } as const;
  mkdirSync(fresh, { recursive: true });
  try {
    execFileSync(python, ['-m', 'pip', 'download', '-q', '--no-deps', '-d', '.', SCHEMAS], quiet);
    const wheel = readdirSync(fresh).find((name) => name.endsWith('.whl')) as string;
    execFileSync(python, ['-m', 'zipfile', '-e', wheel, '.'], quiet);
    const all = join(fresh, 'kubernetes_validate/kubernetes-json-schema');
    for (const one of KUBERNETES.filter((of) => !existsSync(folder(of)))) {
      const strict = join(all, `v${one}-local-strict`);
      for (const name of readdirSync(strict)) simplify(join(strict, name));
      renameSync(strict, folder(one));
    }
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return folder(release);
}

/**
 * Their addresses are those of a server that holds them: here they are beside each other. Without the prose
 * they are read in a fraction of the time.
 */
function simplify(file: string): void {
  const { $id: _address, ...schema } = JSON.parse(readFileSync(file, 'utf8'), (key, value) =>
    key === 'description' && typeof value === 'string' ? undefined : (value as unknown),
  ) as Record<string, unknown>;
  const text = JSON.stringify(schema).replaceAll('"/api/_definitions.json', '"_definitions.json');
  writeFileSync(file, text);
}

/** The folder of a module as the Go proxy has it. */
export function goModule(module: string): string {
  mkdirSync(TOOLS, { recursive: true });
  const answer = execFileSync('go', ['mod', 'download', '-json', module], {
    // The repository is no Go module.
    cwd: TOOLS,
    env: goEnvironment(TOOLS),
    encoding: 'utf8',
    stdio: 'pipe',
    timeout: FETCH_LIMIT_MS,
  });
  return (JSON.parse(answer) as { Dir: string }).Dir;
}

/** The schema of compose files, out of the module that Docker's own client loads them with. */
export const composeSchema = (): unknown =>
  JSON.parse(
    readFileSync(
      join(goModule('github.com/compose-spec/compose-go/v2@v2.6.0'), 'schema/compose-spec.json'),
      'utf8',
    ),
  );
