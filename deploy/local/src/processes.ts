// Background processes, each with a pid file and a log file: starts them detached and finds them
// again from a later command. Neither a process that reuses a pid nor, in a copy of the folder, a
// process of the original is taken for ours.
import { execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError, messageOf } from './errors';

export type Log = (line: string) => void;

export interface Launch {
  /** Folder of the pid and log files. */
  dir: string;
  name: string;
  command: string;
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
}

export const STOP_LIMIT_MS = 30_000;
const KILL_LIMIT_MS = 5_000;
const POLL_MS = 25;
const COMMAND_LINE_LIMIT_MS = 1_000;
/** A larger log is truncated when its process starts. */
const LOG_LIMIT_BYTES = 32 * 1024 * 1024;
const TAIL_BYTES = 8 * 1024;
const TAIL_LINES = 12;

export const pidFile = (dir: string, name: string): string => path.join(dir, `${name}.pid`);
export const logFile = (dir: string, name: string): string => path.join(dir, `${name}.log`);

/** Holds the folder that the process was started from, and its start time. */
const ownerFile = (dir: string, name: string): string => path.join(dir, `${name}.owner`);
const ownerOf = (dir: string, pid: number): string =>
  `${fs.realpathSync(dir)}\n${startOf(pid) ?? 'ended'}\n`;

function writePid(dir: string, name: string, pid: number): void {
  writeWhole(ownerFile(dir, name), ownerOf(dir, pid));
  writeWhole(pidFile(dir, name), `${pid}\n`);
}

/** Another command that reads the file half written would take it for stale. */
function writeWhole(file: string, text: string): void {
  fs.writeFileSync(`${file}.new`, text);
  fs.renameSync(`${file}.new`, file);
}

function removePid(dir: string, name: string): void {
  fs.rmSync(pidFile(dir, name), { force: true });
  fs.rmSync(ownerFile(dir, name), { force: true });
}

export type Launched = Awaited<ReturnType<typeof launch>>;

/**
 * Starts a process that outlives this one. The pid is that of the process, not of a shell;
 * `logFrom` is the offset in the log file where this run's lines start.
 */
export async function launch({ dir, name, command, args, cwd, env }: Launch) {
  fs.mkdirSync(dir, { recursive: true });
  const file = logFile(dir, name);
  if (fs.existsSync(file) && fs.statSync(file).size > LOG_LIMIT_BYTES) fs.rmSync(file);
  const output = fs.openSync(file, 'a');
  const logFrom = fs.statSync(file).size;
  try {
    const child = spawn(command, args, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', output, output],
    });
    // At once: a command that is interrupted now must find the process.
    const pid = child.pid as number;
    if (child.pid !== undefined) writePid(dir, name, pid);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    // The kernel sets the command line a moment after the spawn; until then the process would be
    // taken for one that has ended.
    const until = Date.now() + COMMAND_LINE_LIMIT_MS;
    while (commandLine(pid) === undefined && child.exitCode === null && Date.now() < until) {
      await sleep(POLL_MS);
    }
    child.unref();
    return { name, pid, logFile: file, logFrom };
  } catch (error) {
    throw new LocalError(`failed to start ${name}: ${messageOf(error)}`);
  } finally {
    fs.closeSync(output);
  }
}

/** The pid of our process, if it is alive. Removes a stale pid file. */
export function findPid(dir: string, name: string, marker: string): number | undefined {
  const file = pidFile(dir, name);
  if (!fs.existsSync(file)) return undefined;
  const pid = Number.parseInt(fs.readFileSync(file, 'utf8'), 10);
  if (isOurs(pid, marker) && isOwned(dir, name, pid)) return pid;
  removePid(dir, name);
  return undefined;
}

/** False in a copy of the folder. A process that an earlier release started has no owner file. */
function isOwned(dir: string, name: string, pid: number): boolean {
  const file = ownerFile(dir, name);
  return !fs.existsSync(file) || fs.readFileSync(file, 'utf8') === ownerOf(dir, pid);
}

/** True when the process is alive and its command line has the marker: pids are reused. */
export const isOurs = (pid: number, marker: string): boolean =>
  Number.isInteger(pid) && pid > 1 && (commandLine(pid)?.includes(marker) ?? false);

/** Undefined for a process that has ended, zombies included. */
export function commandLine(pid: number): string | undefined {
  try {
    const line =
      process.platform === 'linux'
        ? fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
        : columnsOf(pid, 'stat=,command=').replace(/^Z.*/s, '');
    return line === '' ? undefined : line;
  } catch {
    return undefined;
  }
}

/** Columns of `ps` for a process; throws if there is none. */
const columnsOf = (pid: number, columns: string): string =>
  execFileSync('ps', ['-ww', '-o', columns, '-p', String(pid)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

/** When the process started, in the system's own form. No step of the clock changes it. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') return columnsOf(pid, 'lstart=');
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the program's name in parentheses, may contain spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_FIELD];
  } catch {
    return undefined;
  }
}
/** In ticks since the system's start; counted from the third field of /proc/<pid>/stat. */
const START_FIELD = 19;

export interface StopOptions {
  dir: string;
  name: string;
  marker: string;
  limit_ms?: number | undefined;
  log: Log;
}

/** Sends SIGTERM, and SIGKILL after the time limit. True when a process was running. */
export async function stopProcess(options: StopOptions): Promise<boolean> {
  const { dir, name, marker, limit_ms = STOP_LIMIT_MS, log } = options;
  const pid = findPid(dir, name, marker);
  if (pid === undefined) return false;
  signal(pid, 'SIGTERM');
  if (!(await gone(pid, marker, limit_ms))) {
    log(`${name} (pid ${pid}) did not stop within ${Math.round(limit_ms / 1000)} s: killed`);
    signal(pid, 'SIGKILL');
    await gone(pid, marker, KILL_LIMIT_MS);
  }
  removePid(dir, name);
  return true;
}

async function gone(pid: number, marker: string, limit_ms: number): Promise<boolean> {
  const deadline = Date.now() + limit_ms;
  while (isOurs(pid, marker)) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // ESRCH: it ended before the signal. Any other error (not permitted) is reported.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The log of a process since its start, at most the last few KiB. */
export function logSince(file: string, from = 0): string {
  if (!fs.existsSync(file)) return '';
  const size = fs.statSync(file).size;
  const start = Math.max(from, size - TAIL_BYTES);
  const buffer = Buffer.alloc(Math.max(0, size - start));
  const input = fs.openSync(file, 'r');
  try {
    return buffer.toString('utf8', 0, fs.readSync(input, buffer, 0, buffer.length, start));
  } finally {
    fs.closeSync(input);
  }
}

export const logTail = (file: string, from = 0): string =>
  logSince(file, from)
    .trimEnd()
    .split('\n')
    .slice(-TAIL_LINES)
    .map((line) => `  ${line}`)
    .join('\n');
