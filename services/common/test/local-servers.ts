// For a test file: servers on free ports of this machine, closed after each test.
import { once, type EventEmitter } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from 'node:net';

const TRICKLE_MS = 5;

export function useLocalServers() {
  const servers: (Server | TcpServer)[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });
  /** Starts the server and returns its URL. */
  const urlOf = async (server: Server | TcpServer): Promise<string> => {
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  /** Calls `onData` each time bytes arrive at a connection. */
  const tcp = (onData: (socket: Socket) => void): Promise<string> =>
    urlOf(
      createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.on('data', () => onData(socket));
      }),
    );
  return {
    urlOf,
    /** Starts the server and returns its port. */
    portOf: async (server: Server | TcpServer) => Number(new URL(await urlOf(server)).port),
    http: (listener: RequestListener) => urlOf(createServer(listener)),
    tcp,
    /** Answers with `head`, and then a `piece` at a time until the connection is `closed`. */
    async trickling(head: string, piece: string) {
      let onClosed: () => void = () => undefined;
      const closed = new Promise<void>((resolve) => (onClosed = resolve));
      const url = await tcp((socket) => {
        socket.write(head);
        const timer = setInterval(() => socket.write(piece), TRICKLE_MS);
        socket.on('close', () => {
          clearInterval(timer);
          onClosed();
        });
      });
      return { url, closed };
    },
  };
}

/** Resolves when it is closed, even if an error comes first. */
export const closing = (emitter: EventEmitter): Promise<unknown> =>
  new Promise((resolve) => emitter.on('close', resolve));
