// The logs of all pods of the release, for the search for secrets and for a check that failed. A
// node deletes those of a pod with the pod, so each gets a second name there.
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { docker } from './docker';
import { NODES, STATE } from './facts';
import { NAMESPACE } from './release';

const LOGS = '/var/log/pods';
const KEPT = '/var/log/kept';
const PID_FILE = '/run/keep-logs.pid';
/** The emulator stands in for the upstream, which may log its own secrets. */
const LEFT_OUT = '-emulator-';
const COPY_LIMIT_MS = 120_000;

/**
 * Keeps the logs from now on. `collect` ends it, and writes them into `dir`, a file for each
 * container.
 */
export async function keepPodLogs(dir: string): Promise<{ collect(): Promise<void> }> {
  const script =
    `echo $$ > ${PID_FILE}; rm -rf ${KEPT}; mkdir ${KEPT}; ` +
    `while sleep 1; do cp --archive --link --no-clobber ${LOGS}/${NAMESPACE}_* ${KEPT}; done`;
  for (const { name } of NODES) await docker(['exec', '--detach', name, 'sh', '-c', script]);
  return {
    async collect() {
      for (const { name } of NODES) {
        await docker(['exec', name, 'sh', '-c', `kill "$(cat ${PID_FILE})"`]);
        const copied = join(dir, name);
        rmSync(copied, { recursive: true, force: true });
        await docker(['cp', `${name}:${KEPT}`, copied], { limit_ms: COPY_LIMIT_MS });
        flatten(copied, dir);
      }
    },
  };
}

/** Moves `<namespace>_<pod>_<id>/<container>/<serial>.log` of `from` to one file name each. */
function flatten(from: string, to: string): void {
  for (const found of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    if (!found.endsWith('.log') || found.includes(LEFT_OUT)) continue;
    renameSync(join(from, found), join(to, found.replaceAll('/', '.')));
  }
  rmSync(from, { recursive: true });
}

/** An empty folder for the logs of a check. */
export function logFolder(name: string): string {
  const dir = join(STATE, 'logs', name);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  return dir;
}
