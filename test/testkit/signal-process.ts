// Makes a process hang, as on a machine that does not answer, and go on; and kills it.
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from './eventually';

/**
 * Sends a signal. After SIGSTOP it resolves once no thread of the process runs any more: until
 * then, a process with many threads still answers. After SIGKILL it resolves once the last thread
 * has ended: until then, the ports of the process are taken.
 */
export async function signalProcess(pid: number, name: NodeJS.Signals): Promise<void> {
  process.kill(pid, name);
  if (name === 'SIGSTOP') await eventually(() => everyThread(pid, 'T'));
  if (name === 'SIGKILL') await eventually(() => hasEnded(pid));
}

/**
 * True if the last thread of a process has ended. Its parent may not have looked yet: such a
 * process keeps its number, in state Z.
 */
export const hasEnded = (pid: number): boolean => everyThread(pid, 'Z');

/** Also true of a process without threads, which has ended. */
const everyThread = (pid: number, state: 'T' | 'Z'): boolean =>
  orGone(() => readdirSync(`/proc/${pid}/task`), []).every((thread) =>
    orGone(
      () =>
        new RegExp(`^State:\\s+${state}`, 'm').test(
          readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'),
        ),
      true,
    ),
  );

/** What `read` returns, or `gone` if the process or the thread ended meanwhile. */
function orGone<T>(read: () => T, gone: T): T {
  try {
    return read();
  } catch (error) {
    // ESRCH: the file was open when it ended.
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return gone;
    throw error;
  }
}
