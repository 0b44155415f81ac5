// Docker: the machine's daemon if it runs, else one of our own with its data in the cache.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE } from './facts';
import { isInstalled, run, succeeds, until, words, type RunOptions } from './run';

const FOLDER = join(CACHE, 'docker');
const SOCKET = `unix://${join(FOLDER, 'docker.sock')}`;
const PID_FILE = join(FOLDER, 'docker.pid');
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 30_000;

/**
 * The environment of programs that call docker. The classic builder works without buildx and a
 * registry.
 */
export const dockerEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  ...(ownPid() !== undefined && { DOCKER_HOST: SOCKET }),
  DOCKER_BUILDKIT: '0',
});

export const docker = (args: string[], options: RunOptions = {}): Promise<string> =>
  run('docker', args, { ...options, env: dockerEnvironment() });

const answers = (): Promise<boolean> =>
  succeeds(docker(words`version --format {{.Server.Version}}`, { limit_ms: 10_000 }));

/** The process id of our own daemon, if it runs. */
function ownPid(): number | undefined {
  try {
    const pid = Number(readFileSync(PID_FILE, 'utf8'));
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(FOLDER) ? pid : undefined;
  } catch {
    return undefined;
  }
}

export async function startDocker(): Promise<void> {
  if (!isInstalled('docker'))
    throw new Error('Docker is not installed (Debian: docker.io, iptables)');
  if (await answers()) return;
  if (!isInstalled('dockerd') || process.getuid?.() !== 0) {
    throw new Error(
      'no Docker daemon answers: start it, or run this command as root with dockerd installed',
    );
  }
  mkdirSync(FOLDER, { recursive: true });
  const log = openSync(join(FOLDER, 'dockerd.log'), 'a');
  rmSync(PID_FILE, { force: true });
  const daemon = spawn(
    'dockerd',
    [
      ...words`--host ${SOCKET} --data-root ${FOLDER}/data --exec-root ${FOLDER}/exec`,
      ...words`--pidfile ${PID_FILE} --bip 172.29.30.1/24`,
      // A container keeps at most this much of its output.
      ...words`--log-opt max-size=10m --log-opt max-file=2`,
    ],
    { detached: true, stdio: ['ignore', log, log] },
  );
  daemon.unref();
  await until(
    `dockerd does not answer, see ${join(FOLDER, 'dockerd.log')}`,
    START_LIMIT_MS,
    async () => {
      if (!existsSync(PID_FILE)) throw new Error('it has not started');
      await docker(['version']);
    },
  );
}

/** Stops our own daemon, never one that the machine runs. */
export async function stopDocker(): Promise<void> {
  const pid = ownPid();
  if (pid === undefined) return;
  process.kill(pid, 'SIGTERM');
  await until('dockerd has not stopped', STOP_LIMIT_MS, () => {
    if (ownPid() !== undefined) throw new Error(`process ${pid} still runs`);
  });
}

export const exists = (kind: 'image' | 'network' | 'container', name: string): Promise<boolean> =>
  succeeds(docker([kind, 'inspect', name]));

/** Remembers what an image was made from, so that it is made again only when that changes. */
export async function imageIsCurrent(tag: string, made_from: string): Promise<boolean> {
  const file = markFile(tag);
  return (
    existsSync(file) && readFileSync(file, 'utf8') === made_from && (await exists('image', tag))
  );
}

export function markImage(tag: string, made_from: string): void {
  mkdirSync(join(CACHE, 'marks'), { recursive: true });
  writeFileSync(markFile(tag), made_from);
}

const markFile = (tag: string): string => join(CACHE, 'marks', tag.replace(/[^a-z0-9.-]/g, '_'));
