// Makes a process hang, as on a machine that does not answer, and go on.
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from './eventually';

/**
 * Sends a signal. After SIGSTOP it resolves once no thread of the process runs any more: until then, a
 * process with many threads still answers.
 */
export async function signalProcess(pid: number, name: NodeJS.Signals): Promise<void> {
  process.kill(pid, name);
  if (name !== 'SIGSTOP') return;
  await eventually(() =>
    readdirSync(`/proc/${pid}/task`).every((thread) =>
      /^State:\s+T/m.test(readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')),
    ),
  );
}
