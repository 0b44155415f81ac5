// The receiver of the events benchmark, used for the mesh and the yardstick. It records when each
// event arrived, and hangs on demand: GET /hang?path=/p3, GET /heal, GET /report, GET /count.
import type { Socket } from 'node:net';
import { answerJson, answerOk, startWireServer } from './wire-server';

const EVENT_ID = /"message_id":"([^"]+)"/;

let arrivals: Array<[id: string, at_ms: number]> = [];
let count = 0;
let hanging = '';
let held: Socket[] = [];

/** Monotonic, and shared by every process of the machine. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

function control(url: URL): string {
  if (url.pathname === '/hang') hanging = url.searchParams.get('path') ?? '';
  if (url.pathname === '/heal') {
    hanging = '';
    for (const socket of held) answerOk(socket);
    held = [];
  }
  if (url.pathname !== '/report') return JSON.stringify({ count });
  const report = JSON.stringify({ count, arrivals });
  arrivals = [];
  return report;
}

startWireServer(Number(process.env['RECEIVER_PORT']), ({ method, path, body }, socket) => {
  if (method === 'GET') return answerJson(socket, control(new URL(path, 'http://x')));
  if (hanging !== '' && path === hanging) return void held.push(socket);
  count += 1;
  const id = EVENT_ID.exec(body)?.[1];
  if (id !== undefined) arrivals.push([id, now()]);
  answerOk(socket);
});
