// Joins two sockets, for test servers that stand between a client and a real server.
import type { Socket } from 'node:net';

/**
 * Pipes each socket into the other until one closes, then closes both. `open` holds them until
 * then.
 */
export function joinSockets(near: Socket, far: Socket, open: Set<Socket>): void {
  for (const [socket, other] of [
    [near, far],
    [far, near],
  ] as const) {
    open.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      open.delete(socket);
      other.destroySoon();
    });
    socket.pipe(other);
  }
}
