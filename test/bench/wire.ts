// A minimal HTTP/1.1 client and server on plain sockets: the driver shares the machine with the
// measured mesh, so a request must cost it next to nothing.
import { connect, createServer, type Server, type Socket } from 'node:net';

const HOST = '127.0.0.1';
const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;
/** More requests wait until a connection is free, as they do at the upstream. */
const CONNECTIONS_MAX = 512;

/** The first message of the received text, which has one character per byte, if it is complete. */
function messageOf(text: string): { head: string; body: string; end: number } | undefined {
  const head_end = text.indexOf(HEAD_END);
  if (head_end < 0) return undefined;
  const head = text.slice(0, head_end + 2);
  const body_at = head_end + HEAD_END.length;
  const end = body_at + Number(LENGTH.exec(head)?.[1] ?? 0);
  return text.length < end ? undefined : { head, body: text.slice(body_at, end), end };
}

export interface WireAnswer {
  /** 0 if the connection failed. */
  status: number;
  /** One character per byte. */
  body: string;
}

export interface WireClient {
  /** Sends a request, head and body as they go over the wire, and reads the answer. */
  ask(request: Buffer): Promise<WireAnswer>;
  close(): void;
}

interface Line {
  socket: Socket;
  text: string;
  resolve: ((answer: WireAnswer) => void) | undefined;
}

/** Opens a connection when all others wait for their answer. */
export function createWireClient(origin: string): WireClient {
  const { hostname, port } = new URL(origin);
  const idle: Line[] = [];
  const all = new Set<Line>();
  const waiting: Array<(line: Line) => void> = [];
  const settle = (line: Line, answer: WireAnswer): void => {
    const { resolve } = line;
    line.resolve = undefined;
    resolve?.(answer);
  };
  const open = (): Line => {
    const line: Line = { socket: connect(Number(port), hostname), text: '', resolve: undefined };
    all.add(line);
    line.socket.setNoDelay(true);
    const gone = (): void => {
      all.delete(line);
      const at = idle.indexOf(line);
      if (at >= 0) idle.splice(at, 1);
      line.socket.destroy();
      settle(line, { status: 0, body: '' });
      const next = waiting.shift();
      if (next) next(open());
    };
    line.socket.on('error', gone);
    line.socket.on('close', gone);
    line.socket.on('data', (chunk: Buffer) => {
      line.text += chunk.toString('latin1');
      const answer = messageOf(line.text);
      if (!answer) return;
      const status = Number(line.text.slice(9, 12));
      line.text = '';
      settle(line, { status, body: answer.body });
      const next = waiting.shift();
      if (next) next(line);
      else idle.push(line);
    });
    return line;
  };
  return {
    ask: (request) =>
      new Promise((resolve) => {
        const post = (line: Line): void => {
          line.resolve = resolve;
          line.socket.write(request);
        };
        const line = idle.pop() ?? (all.size < CONNECTIONS_MAX ? open() : undefined);
        if (line) post(line);
        else waiting.push(post);
      }),
    close() {
      for (const { socket } of all) socket.destroy();
    },
  };
}

export interface WireRequest {
  method: string;
  path: string;
  /** One character per byte. */
  body: string;
}

export const respond = (socket: Socket, body: string): void =>
  void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);

/** Calls `handle` for each request; it answers on the socket. */
export function startWireServer(
  port: number,
  handle: (request: WireRequest, socket: Socket) => void,
): Server {
  const server = createServer((socket) => {
    let text = '';
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let request = messageOf(text); request; request = messageOf(text)) {
        text = text.slice(request.end);
        const { head, body } = request;
        const [method = '', path = '/'] = head.slice(0, head.indexOf('\r\n')).split(' ');
        handle({ method, path, body }, socket);
      }
    });
  });
  return server.listen(port, HOST);
}
