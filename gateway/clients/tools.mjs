// The tools of other languages that make the clients, fetched from their registries once for this
// machine and shared by all checkouts. Versions are pinned; other versions get a folder of their
// own. `node tools.mjs <name>` fetches one and prints its command as JSON.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Outside the repository: neither a fresh clone nor `make clean` causes a download. */
const TOOLS = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'bmg-client-tools');
const COMMAND_LIMIT_MS = 10 * 60_000;
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;
const ERROR_MAX_CHARS = 8_000;

/** The generator, what packs the client, and what the client needs. */
const PYTHON = [
  'openapi-python-client==0.29.1',
  'standardwebhooks==1.1.0',
  'build==1.6.1',
  'python-dateutil==2.9.0.post0',
];

/**
 * What the test of the generators needs: the code of two generators runs with them, and is checked.
 */
const PYTHON_CHECKED = [...PYTHON, 'mypy==2.4.1', 'pydantic==2.14.4', 'urllib3==2.8.0'];

/**
 * The generators of TypeScript, which need a newer Node than the gateway, and what their code
 * needs.
 */
const NODE = [
  `node-${process.platform}-${process.arch}@24.21.0`,
  'typescript@5.9.3',
  '@types/node@24.19.2',
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  'orval@8.38.0',
  '@hey-api/openapi-ts@0.99.0',
];

const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0';
const OPENAPI_GENERATOR = '7.25.0';
const OAPI_CODEGEN = 'v2.8.2';

/** Runs a command in a folder; its output appears only if it fails. */
export function run(command, args, { cwd = TOOLS, env = process.env } = {}) {
  try {
    execFileSync(command, args, {
      cwd,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: COMMAND_LIMIT_MS,
      maxBuffer: OUTPUT_MAX_BYTES,
    });
  } catch (error) {
    const output = `${error.stdout ?? ''}\n${error.stderr ?? ''}`.trim().slice(-ERROR_MAX_CHARS);
    throw new Error(`${command} ${args.slice(0, 3).join(' ')} failed: ${output || error.message}`);
  }
}

const versionsOf = (packages) => packages.map((one) => one.replace(/^.*(==|@)/, '')).join('-');

const announce = (what) => {
  process.stderr.write(`clients: fetching ${what}, once for this machine ...\n`);
  mkdirSync(TOOLS, { recursive: true });
};

/**
 * A virtual environment contains its own path, so it is made in place and marked when it is
 * complete.
 */
function python(packages) {
  const folder = join(TOOLS, `python-${versionsOf(packages)}`);
  const done = join(folder, 'complete');
  if (!existsSync(done)) {
    announce('the Python tools');
    run('python3', ['-m', 'venv', '--clear', folder]);
    run(join(folder, 'bin/pip'), ['install', '--quiet', ...packages]);
    writeFileSync(done, '');
  }
  return join(folder, 'bin');
}

/** Fills a temporary folder and renames it, so that the folder exists only when it is complete. */
function fetched(name, what, fill) {
  const folder = join(TOOLS, name);
  if (!existsSync(folder)) {
    announce(what);
    const made = mkdtempSync(join(TOOLS, 'made-'));
    fill(made);
    renameSync(made, folder);
  }
  return folder;
}

function openapiGenerator() {
  const name = `openapi-generator-cli-${OPENAPI_GENERATOR}`;
  const folder = fetched(name, 'openapi-generator', (made) =>
    run('mvn', [
      '-q',
      '-B',
      'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy',
      `-Dartifact=org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`,
      `-DoutputDirectory=${made}`,
    ]),
  );
  return ['java', '-jar', join(folder, `${name}.jar`)];
}

function oapiCodegen() {
  const source = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${OAPI_CODEGEN}`;
  const folder = fetched(`oapi-codegen-${OAPI_CODEGEN}`, 'oapi-codegen', (made) =>
    run('go', ['install', source], { env: { ...process.env, GOBIN: made } }),
  );
  return [join(folder, 'oapi-codegen')];
}

/** The `node_modules` of these packages. */
function packages(name, what, wanted) {
  const folder = fetched(`${name}-${versionsOf(wanted)}`, what, (made) =>
    run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', made, ...wanted]),
  );
  return join(folder, 'node_modules');
}

const node = () => packages('node', 'the generators of TypeScript', NODE);

/** It needs a newer Node than the gateway too. */
const inspector = () => [
  ...nodeProgram(),
  join(
    packages('inspector', 'the inspector of MCP servers', [INSPECTOR]),
    '@modelcontextprotocol/inspector/clients/launcher/build/index.js',
  ),
];

/** A program of these packages, started by their Node. */
const nodeProgram = (file) => [
  join(node(), `node-${process.platform}-${process.arch}/bin/node`),
  ...(file ? [join(node(), file)] : []),
];

/** The tools by name: each returns the command that starts it. */
export const tools = {
  python: () => [join(python(PYTHON), 'python')],
  'openapi-python-client': () => [join(python(PYTHON), 'openapi-python-client')],
  'python-checked': () => [join(python(PYTHON_CHECKED), 'python')],
  'openapi-generator': openapiGenerator,
  'oapi-codegen': oapiCodegen,
  inspector,
  node: () => nodeProgram(),
  'node-packages': () => [node()],
  tsc: () => nodeProgram('typescript/bin/tsc'),
  'openapi-typescript': () => nodeProgram('openapi-typescript/bin/cli.js'),
  orval: () => nodeProgram('orval/dist/bin/orval.mjs'),
  'hey-api': () => nodeProgram('@hey-api/openapi-ts/bin/run.js'),
};

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const tool = tools[process.argv[2]];
  if (!tool) throw new Error(`the tools are ${Object.keys(tools).join(', ')}`);
  process.stdout.write(JSON.stringify(tool()));
}
