// The receiver of the events benchmark, used for the mesh and the yardstick: HTTP/1.1 by hand on
// plain sockets, because it shares the machine with what is measured. It records when each event
// arrived, and hangs on demand: GET /hang?path=/p3, GET /heal, GET /report, GET /count.
import { createServer, type Socket } from 'node:net';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;
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
    for (const socket of held) socket.write(OK);
    held = [];
  }
  if (url.pathname !== '/report') return JSON.stringify({ count });
  const report = JSON.stringify({ count, arrivals });
  arrivals = [];
  return report;
}

function answer(socket: Socket, head: string, body: string): void {
  const [method, path = '/'] = head.slice(0, head.indexOf('\r\n')).split(' ');
  if (method === 'GET') {
    const json = control(new URL(path, 'http://x'));
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
    return;
  }
  if (hanging !== '' && path === hanging) return void held.push(socket);
  count += 1;
  const id = EVENT_ID.exec(body)?.[1];
  if (id !== undefined) arrivals.push([id, now()]);
  socket.write(OK);
}

createServer((socket) => {
  let text = '';
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  // One character per byte, so that lengths are lengths in bytes.
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    for (;;) {
      const head_end = text.indexOf(HEAD_END);
      if (head_end < 0) return;
      const head = text.slice(0, head_end + 2);
      const body_at = head_end + HEAD_END.length;
      const end = body_at + Number(LENGTH.exec(head)?.[1] ?? 0);
      if (text.length < end) return;
      const body = text.slice(body_at, end);
      text = text.slice(end);
      answer(socket, head, body);
    }
  });
}).listen(Number(process.env['RECEIVER_PORT']), '127.0.0.1');
