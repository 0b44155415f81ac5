// Makes a process hang, as on a machine that does not answer, and go on; and kills it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { eventually } from './eventually';

/**
 * Sends a signal. After SIGSTOP it resolves once no thread of the process runs any more: until then, a
 * process with many threads still answers. After SIGKILL it resolves once the last thread has ended:
 * until then, the ports of the process are taken.
 */
export async function signalProcess(pid: number, name: NodeJS.Signals): Promise<void> {
  process.kill(pid, name);
  if (name === 'SIGSTOP') await eventually(() => everyThread(pid, 'T'));
  // Z: it has ended, and its parent has not looked yet.
  if (name === 'SIGKILL')
    await eventually(() => !existsSync(`/proc/${pid}`) || everyThread(pid, 'Z'));
}

/** Throws when a thread ends meanwhile. */
const everyThread = (pid: number, state: 'T' | 'Z'): boolean =>
  readdirSync(`/proc/${pid}/task`).every((thread) =>
    new RegExp(`^State:\\s+${state}`, 'm').test(
      readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'),
    ),
  );
