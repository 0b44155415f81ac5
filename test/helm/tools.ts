// Tools of the chart tests that are not npm packages: helm (built from the Go module proxy) and the
// schemas of Kubernetes (PyPI) and of compose (Go). Each is made once and shared by all checkouts
// on this machine. Tests that need a missing one are skipped, with a line that says what to
// install.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../../deploy/local/src/tools';

/** Outside the repository: neither a fresh clone nor `make clean` causes a rebuild. */
export const TOOLS = join(
  process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
  'bmg-chart-tools',
);
const BUILD_LIMIT_MS = 15 * 60_000;
const FETCH_LIMIT_MS = 5 * 60_000;

const HELM = { module: 'helm.sh/helm/v3/cmd/helm', version: 'v3.17.3' };
/** The version in the file's name makes a new version build. */
const HELM_FILE = join(TOOLS, `helm-${HELM.version}`);

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** True if Go is installed; otherwise prints once that the checks are skipped. */
export const hasGo = ((): boolean => {
  const found = findProgram('go', process.env) !== undefined;
  if (!found) say('chart checks: skipped, because Go is not installed (https://go.dev/dl)');
  return found;
})();

/** The path of helm. The first call on a machine builds it, which takes minutes; others wait. */
export function helm(): string {
  if (existsSync(HELM_FILE)) return HELM_FILE;
  mkdirSync(TOOLS, { recursive: true });
  say(`chart checks: building helm ${HELM.version}, once for this machine (minutes) ...`);
  const dir = mkdtempSync(join(TOOLS, 'build-'));
  const install = `go install -trimpath ${HELM.module}@${HELM.version} && mv '${dir}/helm' '${HELM_FILE}'`;
  const command = ['nice', '-n', '10', 'sh', '-c', `[ -e '${HELM_FILE}' ] || { ${install}; }`];
  // If there is no flock, two processes may build it; each renames a whole file.
  const lock = findProgram('flock', process.env) ? ['flock', `${HELM_FILE}.lock`] : [];
  const [program = '', ...args] = [...lock, ...command];
  try {
    execFileSync(program, args, {
      env: goEnvironment(dir),
      stdio: 'pipe',
      timeout: BUILD_LIMIT_MS,
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  return HELM_FILE;
}

const goEnvironment = (bin: string): NodeJS.ProcessEnv => ({
  ...process.env,
  GOBIN: bin,
  GOTOOLCHAIN: 'local',
  CGO_ENABLED: '0',
});

/** The package kubernetes-validate holds the schemas of every release since 1.25. */
const SCHEMAS = 'kubernetes-validate==1.37.0';
/** The oldest release that the chart supports, and the newest that exists. */
export const KUBERNETES = ['1.27.0', '1.37.0'];

/**
 * The folder with the schemas of one release, which refuse unknown fields. The first call fetches
 * them with pip; undefined without Python.
 */
export function kubernetesSchemas(release: string): string | undefined {
  const folder = (of: string): string => join(TOOLS, `kubernetes-${of}`);
  if (existsSync(folder(release))) return folder(release);
  const python = findProgram('python3', process.env);
  if (!python) return undefined;
  say('chart checks: fetching the schemas of Kubernetes, once for this machine ...');
  const dir = join(TOOLS, `schemas-${process.pid}`);
  const quiet = { stdio: 'pipe', timeout: FETCH_LIMIT_MS, cwd: dir } as const;
  mkdirSync(dir, { recursive: true });
  try {
    execFileSync(python, ['-m', 'pip', 'download', '-q', '--no-deps', '-d', '.', SCHEMAS], quiet);
    const wheel = readdirSync(dir).find((name) => name.endsWith('.whl')) as string;
    execFileSync(python, ['-m', 'zipfile', '-e', wheel, '.'], quiet);
    const all = join(dir, 'kubernetes_validate/kubernetes-json-schema');
    for (const one of KUBERNETES.filter((of) => !existsSync(folder(of)))) {
      const strict = join(all, `v${one}-local-strict`);
      for (const name of readdirSync(strict)) simplify(join(strict, name));
      renameSync(strict, folder(one));
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  return folder(release);
}

/**
 * Makes references between the schemas relative (the published ones name a server) and drops the
 * descriptions, so that schemas load faster.
 */
function simplify(file: string): void {
  const { $id: _address, ...schema } = JSON.parse(readFileSync(file, 'utf8'), (key, value) =>
    key === 'description' && typeof value === 'string' ? undefined : (value as unknown),
  ) as Record<string, unknown>;
  const text = JSON.stringify(schema).replaceAll('"/api/_definitions.json', '"_definitions.json');
  writeFileSync(file, text);
}

/** The folder of a Go module, fetched from the Go module proxy. */
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

/** The schema of compose files, from the module that Docker's client uses. */
export const composeSchema = (): unknown =>
  JSON.parse(
    readFileSync(
      join(goModule('github.com/compose-spec/compose-go/v2@v2.6.0'), 'schema/compose-spec.json'),
      'utf8',
    ),
  );

const FERRETDB = 'v1.24.0';

/**
 * A server of MongoDB's protocol that has TLS and users, which the local stand-in has not. The
 * first call on a machine builds it, which takes minutes; undefined without Go.
 */
export function ferretDb(): string | undefined {
  const folder = join(TOOLS, `ferretdb-${FERRETDB}`);
  const program = join(folder, 'ferretdb');
  if (existsSync(program)) return program;
  if (!hasGo) return undefined;
  say(`secure MongoDB: building FerretDB ${FERRETDB}, once for this machine (minutes) ...`);
  // The source in the cache lacks the file that names its version, and is not writable.
  const source = mkdtempSync(join(tmpdir(), 'ferretdb-'));
  const from = goModule(`github.com/FerretDB/FerretDB@${FERRETDB}`);
  execFileSync('sh', ['-c', 'cp -R "$0/." . && chmod -R u+w .', from], { cwd: source });
  writeFileSync(join(source, 'build/version/version.txt'), FERRETDB);
  execFileSync('go', ['install', '-trimpath', './cmd/ferretdb'], {
    cwd: source,
    stdio: 'pipe',
    timeout: BUILD_LIMIT_MS,
    env: goEnvironment(folder),
  });
  rmSync(source, { recursive: true, force: true });
  return program;
}

const SCHEMATHESIS = '4.32.5';

/** The fuzzer of OpenAPI documents. The first call installs it; undefined without Python. */
export function schemathesis(): string | undefined {
  const folder = join(TOOLS, `schemathesis-${SCHEMATHESIS}`);
  const program = join(folder, 'bin/st');
  if (existsSync(program)) return program;
  const python = findProgram('python3', process.env);
  if (!python) return undefined;
  say(`fuzz run: installing schemathesis ${SCHEMATHESIS}, once for this machine ...`);
  const quiet = { stdio: 'pipe', timeout: FETCH_LIMIT_MS } as const;
  // A virtual environment cannot be moved once it is made.
  rmSync(folder, { recursive: true, force: true });
  execFileSync(python, ['-m', 'venv', folder], quiet);
  const pip = ['-m', 'pip', 'install', '-q', `schemathesis==${SCHEMATHESIS}`];
  try {
    execFileSync(join(folder, 'bin/python'), pip, quiet);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return program;
}
