// Runs programs, kubectl on this cluster and no other among them, and reports what the command does
// and how long it takes.
import { execFile, spawn, type SpawnOptions } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { findProgram } from '@bmg/local';
import { eventually } from '../testkit/eventually';
import { CONTEXT, ID_FILE, ID_MAP, KUBECONFIG, KUBECTL } from './facts';

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

/**
 * Splits a command into words. An inserted value stays in its word, an inserted list is a word for
 * each of its values.
 */
export function words(
  texts: TemplateStringsArray,
  ...values: ReadonlyArray<string | number | readonly string[]>
): string[] {
  let next = 0;
  return texts
    .join('\0')
    .trim()
    .split(/\s+/)
    .flatMap((word) => {
      const value = values[next];
      if (word !== '\0' || !Array.isArray(value)) {
        return word.replaceAll('\0', () => String(values[next++]));
      }
      next += 1;
      return value as readonly string[];
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
  findProgram(program, process.env) !== undefined;

/** True if the work succeeds. */
export const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

/** Returns a function that returns the whole seconds since now. */
export function stopwatch(): () => number {
  const began = performance.now();
  return () => Math.round((performance.now() - began) / 1_000);
}

/** Prints the name of a step before it, and its duration after it. */
export async function step<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  process.stdout.write(`${name} ... `);
  const began = performance.now();
  const result = await work();
  process.stdout.write(`${((performance.now() - began) / 1_000).toFixed(1)} s\n`);
  return result;
}

/** Repeats `look` until it does not throw. */
export const until = (what: string, limit_ms: number, look: () => unknown): Promise<boolean> =>
  eventually(async () => {
    await look();
    return true;
  }, limit_ms).catch((error: unknown) => {
    throw new Error(`${what}: ${(error as Error).message}`);
  });

/**
 * The kubeconfig and context are always named: neither a variable nor the user's file can redirect
 * a command.
 */
const OWN = words`--kubeconfig ${KUBECONFIG} --context ${CONTEXT}`;

/** Runs it and resolves with its output. */
export async function kubectl(args: string[], options: RunOptions = {}): Promise<string> {
  return run(KUBECTL, [...OWN, ...args], options);
}

/** Creates or changes objects in a namespace, or in the cluster. */
export const apply = (items: object[], namespace: readonly string[] = []): Promise<string> =>
  kubectl(['apply', ...namespace, '--filename', '-'], {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
  });

/** Waits until a workload, such as `deployment/coredns`, has its replicas. */
export const rolledOut = (namespace: string, workload: string, limit_s: number): Promise<string> =>
  kubectl(
    words`rollout status ${workload} --namespace ${namespace} --timeout=${limit_s}s`,
    // kubectl gives up first, and says what is missing.
    { limit_ms: (limit_s + 10) * 1_000 },
  );

/** Throws unless the cluster behind the kubeconfig is the one that this checkout made. */
export async function requireOwnCluster(): Promise<void> {
  if (!existsSync(KUBECONFIG) || !existsSync(ID_FILE)) {
    throw new Error(`no cluster is recorded in ${dirname(KUBECONFIG)}: run make cluster-up`);
  }
  const query = words`get configmap ${ID_MAP} --namespace kube-system --output jsonpath={.data.id}`;
  const found = await kubectl(query, { limit_ms: 20_000 });
  if (found !== readFileSync(ID_FILE, 'utf8')) {
    throw new Error(`the cluster in ${KUBECONFIG} was not made by make cluster-up in this folder`);
  }
}
