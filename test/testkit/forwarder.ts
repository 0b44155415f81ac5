// Forwards a port to a real server, for tests of a server that starts late or stops.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { joinSockets } from './join-sockets';

export interface Forwarder {
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/** Forwards connections on `port` to `target` (host:port); `close()` also cuts the open ones. */
export async function forward(port: number, target: string): Promise<Forwarder> {
  const [host, target_port] = target.split(':') as [string, string];
  const sockets = new Set<Socket>();
  const server: Server = createServer((from) => {
    joinSockets(from, connect(Number(target_port), host), sockets);
  });
  await new Promise<void>((resolve) => server.listen(port, HOST, resolve));
  return {
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
