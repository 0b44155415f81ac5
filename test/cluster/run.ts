// Runs programs, and reports what the command does and how long it takes.
import { execFile, spawn, type SpawnOptions } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const RUN_LIMIT_MS = 120_000;
const ERROR_CHARACTERS = 3_000;
const OUTPUT_MAX = 64 * 1024 * 1024;

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string;
  limit_ms?: number;
}

/** Runs a program and resolves with its output; an error carries the end of what it wrote. */
export function run(command: string, args: string[], options: RunOptions = {}): Promise<string> {
  const { limit_ms = RUN_LIMIT_MS, env, input, cwd } = options;
  return new Promise((done, failed) => {
    const child = execFile(
      command,
      args,
      { cwd, env: { ...process.env, ...env }, timeout: limit_ms, maxBuffer: OUTPUT_MAX },
      (error, output, errors) => {
        if (!error) return done(output);
        const written = [output, errors].map((text) => text.trim()).filter(Boolean);
        const said = (written.join('\n') || error.message).slice(-ERROR_CHARACTERS);
        failed(new Error(`${command} ${args.slice(0, 4).join(' ')} failed: ${said}`));
      },
    );
    // A program that ends early closes its input: its own error says why.
    child.stdin?.once('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** Runs a program whose output goes to the terminal or to `stdio`. */
export function runShown(
  command: string,
  args: string[],
  options: SpawnOptions = {},
): Promise<void> {
  return new Promise((done, failed) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options });
    child.once('error', failed);
    child.once('close', (code) =>
      code === 0 ? done() : failed(new Error(`${command} ${args[0] ?? ''} ended with ${code}`)),
    );
  });
}

export const isInstalled = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

/** Prints the name of a step before it, and its duration after it. */
export async function step<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  process.stdout.write(`${name} ... `);
  const began = performance.now();
  const result = await work();
  process.stdout.write(`${((performance.now() - began) / 1_000).toFixed(1)} s\n`);
  return result;
}

/** Repeats `look` until it does not throw. */
export async function until(what: string, limit_ms: number, look: () => unknown): Promise<void> {
  const end = Date.now() + limit_ms;
  for (;;) {
    try {
      await look();
      return;
    } catch (error) {
      if (Date.now() > end) throw new Error(`${what}: ${(error as Error).message}`);
      await new Promise((wake) => setTimeout(wake, 500));
    }
  }
}
