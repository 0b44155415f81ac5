// Runs attacks in a separate process, as a hostile client on another machine does: the client's own
// work delays no requests of others. The parent sends the attack to run over IPC, and gets the
// counts of the answers.
import { ATTACKS, runAttack, type Target } from './attacks';

/** Starts an attack, or ends the running one. */
export type Order = { start: string; target: Target } | { stop: true };
/** How often the attack got each status. */
export type Counts = Record<string, number>;

let over = new AbortController();

process.on('message', (order: Order) => {
  if ('stop' in order) {
    over.abort();
    return;
  }
  over = new AbortController();
  const attack = ATTACKS.find(({ name }) => name === order.start);
  if (!attack) throw new Error(`no attack is named ${order.start}`);
  void runAttack(attack, order.target, over.signal).then((seen) =>
    process.send?.(Object.fromEntries(seen) satisfies Counts),
  );
});
process.on('disconnect', () => process.exit(0));
