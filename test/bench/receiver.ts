// The receiver of the events benchmark, used for the mesh and the yardstick, with minimal HTTP. It
// records when each event arrived, and hangs on demand: GET /hang?path=/p3, GET /heal, GET /report.
import { createServer, type ServerResponse } from 'node:http';

const EVENT_ID = /"message_id":"([^"]+)"/;

let arrivals: Array<[id: string, at_ms: number]> = [];
let count = 0;
let hanging = '';
let held: ServerResponse[] = [];

/** Monotonic, and shared by every process of the machine. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

function control(url: URL, response: ServerResponse): void {
  if (url.pathname === '/hang') hanging = url.searchParams.get('path') ?? '';
  if (url.pathname === '/heal') {
    hanging = '';
    for (const one of held) one.end('ok');
    held = [];
  }
  if (url.pathname !== '/report') return void response.end(JSON.stringify({ count }));
  response.end(JSON.stringify({ count, arrivals }));
  arrivals = [];
}

createServer((request, response) => {
  if (request.method === 'GET') return control(new URL(request.url ?? '/', 'http://x'), response);
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const at = now();
    if (hanging !== '' && request.url === hanging) return void held.push(response);
    count += 1;
    const id = EVENT_ID.exec(Buffer.concat(chunks).toString('latin1'))?.[1];
    if (id !== undefined) arrivals.push([id, at]);
    response.writeHead(200, { 'content-length': 2 }).end('ok');
  });
}).listen(Number(process.env['RECEIVER_PORT']), '127.0.0.1');
