// The tools of other languages that make the clients, fetched from their registries once for this machine and
// shared by all checkouts. Versions are pinned; other versions get a folder of their own. `node tools.mjs <name>`
// fetches one and prints its command as JSON.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
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

/** Runs a command in a folder; its output appears only if it fails. */
export function run(command, args, { cwd = TOOLS } = {}) {
  try {
    execFileSync(command, args, {
      cwd,
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

/** An environment holds its own path, so that it is made in place and marked when it is complete. */
function python() {
  const versions = PYTHON.map((one) => one.replace(/^.*=/, '')).join('-');
  const folder = join(TOOLS, `python-${versions}`);
  const done = join(folder, 'complete');
  if (!existsSync(done)) {
    process.stderr.write('clients: fetching the Python tools, once for this machine ...\n');
    mkdirSync(TOOLS, { recursive: true });
    run('python3', ['-m', 'venv', '--clear', folder]);
    run(join(folder, 'bin/pip'), ['install', '--quiet', ...PYTHON]);
    writeFileSync(done, '');
  }
  return join(folder, 'bin');
}

/** The tools by name: each returns the command that starts it. */
export const tools = {
  python: () => [join(python(), 'python')],
  'openapi-python-client': () => [join(python(), 'openapi-python-client')],
};

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const tool = tools[process.argv[2]];
  if (!tool) throw new Error(`the tools are ${Object.keys(tools).join(', ')}`);
  process.stdout.write(JSON.stringify(tool()));
}
