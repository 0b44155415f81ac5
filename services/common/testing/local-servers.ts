// For a test file: servers on free ports of this machine, closed after each test.
import { once, type EventEmitter } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from 'node:net';

export interface LocalServers {
  /** Starts the server and returns its URL. */
  urlOf(server: Server | TcpServer): Promise<string>;
  /** Starts the server and returns its port. */
  portOf(server: Server | TcpServer): Promise<number>;
  http(listener: RequestListener): Promise<string>;
  /** Calls `onData` each time bytes arrive at a connection. */
  tcp(onData: (socket: Socket) => void): Promise<string>;
}

export function useLocalServers(): LocalServers {
  const servers: (Server | TcpServer)[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });
  const urlOf = async (server: Server | TcpServer): Promise<string> => {
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  return {
    urlOf,
    portOf: async (server) => Number(new URL(await urlOf(server)).port),
    http: (listener) => urlOf(createServer(listener)),
    tcp: (onData) =>
      urlOf(
        createTcpServer((socket) => {
          socket.on('error', () => undefined);
          socket.on('data', () => onData(socket));
        }),
      ),
  };
}

/** Resolves when it is closed, even if an error comes first. */
export const closing = (emitter: EventEmitter): Promise<unknown> =>
  new Promise((resolve) => emitter.on('close', resolve));
