// A server that comes late: a port on which nobody listens, until what comes in is handed on to the real one.
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface Forwarder {
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/** `target` is host:port. */
export async function forward(port: number, target: string): Promise<Forwarder> {
  const [host, target_port] = target.split(':') as [string, string];
  const sockets = new Set<Socket>();
  const server: Server = createServer((from) => {
    const to = connect(Number(target_port), host);
    from.pipe(to).pipe(from);
    for (const socket of [from, to]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        from.destroy();
        to.destroy();
      });
    }
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
