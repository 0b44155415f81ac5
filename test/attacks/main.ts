// Runs attacks in a separate process, as a hostile client on another machine does: the client's own
// work delays no requests of others. So does the receiver of the hostile partner. The parent sends
// orders over IPC, and gets a reply to each but `start`.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ATTACKS, runAttack, type Target } from './attacks';

/**
 * - `start` starts an attack; `stop` ends it, and replies with the counts of its answers.
 * - `receiver` replies with the address of the hostile partner's receiver, and with how many events
 *   have arrived there.
 * - `refuse` makes it refuse every event from now on.
 */
export type Order = { start: string; target: Target } | 'stop' | 'receiver' | 'refuse';
/** How often the attack got each status. */
export type Counts = Record<string, number>;
export interface ReceiverState {
  url: string;
  arrivals: number;
}

let over = new AbortController();
let running: Promise<Map<string, number>> | undefined;
let arrivals = 0;
let status = 200;

const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    arrivals += 1;
    response.writeHead(status).end();
  });
}).listen(0, '127.0.0.1');

async function execute(order: Order): Promise<Counts | ReceiverState | undefined> {
  if (order === 'stop') {
    over.abort();
    return Object.fromEntries((await running) ?? []);
  }
  if (order === 'refuse') status = 500;
  if (order === 'refuse' || order === 'receiver') {
    if (!receiver.listening) await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}/hook`, arrivals };
  }
  over = new AbortController();
  const attack = ATTACKS.find(({ name }) => name === order.start);
  if (!attack) throw new Error(`no attack is named ${order.start}`);
  running = runAttack(attack, order.target, over.signal);
  return undefined;
}

process.on('message', (order: Order) => {
  void execute(order).then((reply) => reply && process.send?.(reply));
});
process.on('disconnect', () => process.exit(0));
