// Commands that the tests of the clients run: the tools of other languages.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../deploy/local/src/tools';

const execute = promisify(execFile);
const TOOLS = resolve(__dirname, '../../gateway/clients/tools.mjs');
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;
const COMMAND_LIMIT_MS = 10 * 60_000;

export type Command = readonly [program: string, ...args: string[]];

/** Runs a command in a folder and returns its output; a failure shows what it wrote. */
export async function run(
  [program, ...args]: Command,
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  try {
    const { stdout } = await execute(program, args, {
      cwd,
      env: { ...process.env, ...env },
      maxBuffer: OUTPUT_MAX_BYTES,
      timeout: COMMAND_LIMIT_MS,
    });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${(stdout + stderr).slice(-6_000)}`, {
      cause: error,
    });
  }
}

/** The command of a tool, which is fetched if this machine does not have it. */
export const tool = async (name: string): Promise<Command> =>
  JSON.parse(await run([process.execPath, TOOLS, name], __dirname)) as Command;

/** The programs that a test lacks; each is named on the output once. */
export function lacks(name: string, needs: readonly string[]): boolean {
  const missing = needs.filter((program) => findProgram(program, process.env) === undefined);
  if (missing.length === 0) return false;
  process.stderr.write(`${name}: skipped, because ${missing.join(' and ')} is not installed\n`);
  return true;
}
