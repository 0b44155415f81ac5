// A minimal HTTP/1.1 client on plain sockets: the driver shares the machine with the measured mesh,
// so a post must cost it next to nothing.
import { connect, type Socket } from 'node:net';

export interface WireClient {
  /** Sends one request, head and body as they go over the wire; resolves to the status. */
  send(request: Buffer): Promise<number>;
  /** Sends a request and reads the answer: its body has one character per byte. */
  ask(request: Buffer): Promise<WireAnswer>;
  close(): void;
}

export interface WireAnswer {
  /** 0 if the connection failed. */
  status: number;
  body: string;
}

interface Line {
  socket: Socket;
  text: string;
  resolve: ((answer: WireAnswer) => void) | undefined;
}

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;
/** The result of a request whose connection failed. */
const NO_ANSWER: WireAnswer = { status: 0, body: '' };

/** More requests wait until a connection is free, as they do at the upstream. */
const CONNECTIONS_MAX = 512;

/** Opens a connection when all others wait for their answer. */
export function createWireClient(origin: string): WireClient {
  const { hostname, port } = new URL(origin);
  const idle: Line[] = [];
  const all = new Set<Line>();
  const waiting: Array<(line: Line) => void> = [];
  const free = (line: Line): void => {
    const next = waiting.shift();
    if (next) next(line);
    else idle.push(line);
  };
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
      settle(line, NO_ANSWER);
      const next = waiting.shift();
      if (next) next(open());
    };
    line.socket.on('error', gone);
    line.socket.on('close', gone);
    line.socket.on('data', (chunk: Buffer) => {
      line.text += chunk.toString('latin1');
      const head_end = line.text.indexOf(HEAD_END);
      if (head_end < 0) return;
      const length = Number(LENGTH.exec(line.text.slice(0, head_end + 2))?.[1] ?? 0);
      if (line.text.length < head_end + HEAD_END.length + length) return;
      const answer = {
        status: Number(line.text.slice(9, 12)),
        body: line.text.slice(head_end + HEAD_END.length),
      };
      line.text = '';
      settle(line, answer);
      free(line);
    });
    return line;
  };
  const ask: WireClient['ask'] = (request) =>
    new Promise((resolve) => {
      const post = (line: Line): void => {
        line.resolve = resolve;
        line.socket.write(request);
      };
      const line = idle.pop() ?? (all.size < CONNECTIONS_MAX ? open() : undefined);
      if (line) post(line);
      else waiting.push(post);
    });
  return {
    ask,
    send: async (request) => (await ask(request)).status,
    close() {
      for (const { socket } of all) socket.destroy();
    },
  };
}
