// A minimal HTTP/1.1 server on plain sockets: it shares the machine with the measured mesh.
import { createServer, type Server, type Socket } from 'node:net';

const HOST = '127.0.0.1';
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;

export interface WireRequest {
  method: string;
  path: string;
  /** One character per byte. */
  body: string;
}

export const answerOk = (socket: Socket): void => void socket.write(OK);

export function answerJson(socket: Socket, json: string): void {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
}

/** Calls `handle` for each request; it answers on the socket. */
export function startWireServer(
  port: number,
  handle: (request: WireRequest, socket: Socket) => void,
): Server {
  const server = createServer((socket) => {
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
        const [method = '', path = '/'] = head.slice(0, head.indexOf('\r\n')).split(' ');
        handle({ method, path, body }, socket);
      }
    });
  });
  return server.listen(port, HOST);
}
