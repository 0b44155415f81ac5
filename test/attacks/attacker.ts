// Starts the compiled attacker (main.ts) as a process.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { resolve } from 'node:path';
import type { Target } from './attacks';
import type { Counts, Order } from './main';

const MAIN = resolve(__dirname, '../dist/attacks/main.js');

export interface Attacker {
  /** Starts the attack of this name; the result ends it, and returns how often it got each status. */
  start(name: string, target: Target): () => Promise<Counts>;
  close(): void;
}

export function startAttacker(): Attacker {
  const child = fork(MAIN, { execArgv: ['--enable-source-maps'] });
  // It stands for other machines: its CPU work must take no core from the mesh.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const tell = (order: Order): boolean => child.send(order);
  return {
    start(name, target) {
      tell({ start: name, target });
      return async () => {
        const answered = once(child, 'message');
        tell({ stop: true });
        const [counts] = (await answered) as [Counts];
        return counts;
      };
    },
    close: () => child.disconnect(),
  };
}
