// Stops the mesh, callers before the services they call, so that no call reaches a stopped process.
import * as fs from 'node:fs';
import path from 'node:path';
import { envFile } from './settings';
import { markerOf, runningIn, STOP_ORDER, type ProcessName } from './mesh';
import { RUN_DIR } from './paths';
import { stopProcess, type Log } from './processes';
import { ENGINE_NAMES, forgetPort } from './start-engines';

export interface DownOptions {
  dir?: string;
  /** The processes to stop. Default: all that run. */
  names?: ProcessName[];
  log?: Log;
  limit_ms?: number | undefined;
}

/** Stops processes and returns the names of those it stopped. Data and logs stay. */
export async function down(options: DownOptions = {}): Promise<ProcessName[]> {
  const { names, log = console.log, limit_ms } = options;
  const dir = path.resolve(options.dir ?? RUN_DIR);
  const stopped: ProcessName[] = [];
  for (const group of STOP_ORDER) {
    const wanted = group.filter((name) => names === undefined || names.includes(name));
    const results = await Promise.all(
      wanted.map((name) => stopProcess({ dir, name, marker: markerOf(name, dir), log, limit_ms })),
    );
    stopped.push(...wanted.filter((_, index) => results[index]));
  }
  if (runningIn(dir).length === 0) removeSettings(dir);
  return stopped;
}

/** No process runs any more, so the next start chooses settings and ports afresh. */
function removeSettings(dir: string): void {
  fs.rmSync(envFile(dir), { force: true });
  for (const name of ENGINE_NAMES) forgetPort(dir, name);
}

/** Stops all processes and removes data, logs and settings. The downloaded engines stay. */
export async function clean(options: DownOptions = {}): Promise<ProcessName[]> {
  const dir = path.resolve(options.dir ?? RUN_DIR);
  const stopped = await down(options);
  for (const entry of fs.existsSync(dir) ? fs.readdirSync(dir) : []) {
    if (entry !== KEPT) fs.rmSync(path.join(dir, entry), { recursive: true, force: true });
  }
  return stopped;
}

const KEPT = 'engines';

const ROUNDS_MAX = 5;

/**
 * Stops all processes except those in `before`, including those that a start in progress adds
 * meanwhile. For a command that is interrupted.
 */
export async function stopSince(
  before: readonly ProcessName[],
  options: DownOptions = {},
): Promise<void> {
  const dir = path.resolve(options.dir ?? RUN_DIR);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const names = runningIn(dir).filter((name) => !before.includes(name));
    if (names.length === 0) return;
    await down({ ...options, names });
  }
}
