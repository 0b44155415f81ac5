// Runs a program of the page in a separate folder, as its first line says, and stops it.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findJava, findProgram } from '../../../deploy/local/src/tools';

const run = promisify(execFile);

export interface Language {
  name: string;
  /** Language of its code block on the page. */
  block: string;
  file: string;
  /** File of the program that reads the event log. */
  poller: string;
  /** True if the machine has it. */
  isHere: boolean;
  program(): Promise<string>;
  /** Arguments before the file's name. */
  arguments?: string[];
  /** Compile first: `go run` would leave a child process behind. */
  compiled?: boolean;
}

const ifFound = (name: string): Pick<Language, 'isHere' | 'program'> => {
  const found = findProgram(name, process.env);
  return { isHere: found !== undefined, program: async () => found as string };
};

/** Node and Java are required by this project; the other languages are used if installed. */
export const LANGUAGES: Language[] = [
  {
    name: 'Node.js',
    block: 'js',
    file: 'receiver.mjs',
    poller: 'poller.mjs',
    isHere: true,
    program: async () => process.execPath,
  },
  {
    name: 'Python',
    block: 'python',
    file: 'receiver.py',
    poller: 'poller.py',
    ...ifFound('python3'),
  },
  {
    name: 'Go',
    block: 'go',
    file: 'receiver.go',
    poller: 'poller.go',
    ...ifFound('go'),
    compiled: true,
  },
  {
    name: 'Java',
    block: 'java',
    file: 'Receiver.java',
    poller: 'Poller.java',
    isHere: true,
    program: () =>
      findJava(process.env, { what: 'the receiver in Java', instead: 'set JAVA_HOME' }),
    // Starts faster and uses less memory.
    arguments: ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
  },
];

export interface Receiver {
  url: string;
  /** The lines it has printed since it started to listen. */
  printed(): string[];
  stop(): Promise<void>;
}

const COMPILE_LIMIT_MS = 120_000;
const LISTEN_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 3_000;
const POLL_MS = 20;

export async function startReceiver(
  language: Language,
  source: string,
  webhook_secret: string,
  events_folder?: string,
): Promise<Receiver> {
  const folder = mkdtempSync(join(tmpdir(), 'bmg-receiving-'));
  let child: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (child) await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    writeFileSync(join(folder, language.file), source);
    const [command, args] = await commandOf(language, folder);
    const env = {
      ...process.env,
      PORT: '0',
      WEBHOOK_SECRET: webhook_secret,
      ...(events_folder !== undefined && { EVENTS_DIR: events_folder }),
    };
    child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = collect(child);
    const port = await listening(child, output);
    return {
      url: `http://127.0.0.1:${port}/hook`,
      printed: () => output.out.split('\n').slice(1, -1),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export interface Poller {
  /** The lines that it has printed in all its runs. */
  printed(): string[];
  /** The position that it has stored; undefined before the first. */
  position(): number | undefined;
  start(): void;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  remove(): Promise<void>;
}

/** Prepares the program that reads the event log; it can be killed and started again. */
export async function preparePoller(
  language: Language,
  source: string,
  settings: { BASE_URL: string; PARTNER_KEY: string; EVENTS_DIR?: string },
): Promise<Poller> {
  const folder = mkdtempSync(join(tmpdir(), 'bmg-polling-'));
  writeFileSync(join(folder, language.poller), source);
  const [command, args] = await commandOf({ ...language, file: language.poller }, folder);
  const file = join(folder, 'position');
  const runs: Output[] = [];
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (!child || hasEnded(child)) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    printed: () => runs.flatMap(({ out }) => out.split('\n').slice(0, -1)),
    position: () => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined),
    start() {
      const env = { ...process.env, ...settings, POSITION_FILE: file };
      child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
      runs.push(collect(child));
    },
    kill,
    async remove() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function commandOf(
  { file, arguments: before = [], compiled = false, program: find }: Language,
  folder: string,
): Promise<[string, string[]]> {
  const program = await find();
  if (!compiled) return [program, [...before, file]];
  const made = join(folder, 'receiver');
  // Use the installed toolchain only: nothing is downloaded.
  const env = { ...process.env, GOTOOLCHAIN: 'local', GOPROXY: 'off', GO111MODULE: 'auto' };
  await run(program, ['build', '-o', made, file], { cwd: folder, env, timeout: COMPILE_LIMIT_MS });
  return [made, []];
}

interface Output {
  out: string;
  err: string;
  failed: Error | undefined;
}

function collect(child: ChildProcess): Output {
  const output: Output = { out: '', err: '', failed: undefined };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output.out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output.err += text));
  child.once('error', (error) => (output.failed = error));
  return output;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

async function listening(child: ChildProcess, output: Output): Promise<number> {
  const until = Date.now() + LISTEN_LIMIT_MS;
  for (;;) {
    const found = /^listening on (\d+)$/m.exec(output.out);
    if (found) return Number(found[1]);
    if (output.failed) throw output.failed;
    if (hasEnded(child) || Date.now() > until) {
      throw new Error(`the receiver did not start to listen: ${output.err || output.out}`);
    }
    await sleep(POLL_MS);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await ended.finally(() => clearTimeout(timer));
}
