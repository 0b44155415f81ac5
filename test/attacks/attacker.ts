// Starts the compiled attacker (main.ts) as a process.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { resolve } from 'node:path';
import type { Target } from './attacks';
import type { Counts, Order, ReceiverState } from './main';

const MAIN = resolve(__dirname, '../dist/attacks/main.js');

export interface Attacker {
  /**
   * Starts the attack of this name; the result ends it, and returns how often it got each status.
   */
  start(name: string, target: Target): () => Promise<Counts>;
  /** The hostile partner's receiver: it accepts every event until `refuse`. */
  receiver(): Promise<ReceiverState>;
  /** Makes it refuse every event from now on. */
  refuse(): Promise<ReceiverState>;
  close(): void;
}

export function startAttacker(): Attacker {
  const child = fork(MAIN, { execArgv: ['--enable-source-maps'] });
  // It stands for other machines: its CPU work must take no core from the mesh.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const ask = async <T>(order: Order): Promise<T> => {
    const answered = once(child, 'message');
    child.send(order);
    const [reply] = (await answered) as [T];
    return reply;
  };
  return {
    start(name, target) {
      child.send({ start: name, target } satisfies Order);
      return () => ask<Counts>('stop');
    },
    receiver: () => ask<ReceiverState>('receiver'),
    refuse: () => ask<ReceiverState>('refuse'),
    close: () => child.disconnect(),
  };
}
