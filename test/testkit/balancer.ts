// What stands before replicas in a cluster: each new connection goes to the next one that says it is ready.
// Connections that exist stay where they are, as with a Service of Kubernetes.
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Balancer {
  port: number;
  close(): Promise<void>;
}

export interface Target {
  port: number;
  /** Where it says whether it is ready. */
  metrics_port: number;
}

const HOST = '127.0.0.1';
const LOOK_EVERY_MS = 50;
const LOOK_LIMIT_MS = 1_000;

/** `targets` may be filled later: until one of them is ready, connections are refused. */
export async function startBalancer(targets: Target[]): Promise<Balancer> {
  const ready = new Set<Target>();
  const sockets = new Set<Socket>();
  let turn = 0;
  let open = true;

  const server = createServer((from) => {
    const able = targets.filter((target) => ready.has(target));
    const target = able[(turn += 1) % able.length];
    if (!target) return void from.destroy();
    const to = connect(target.port, HOST);
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroySoon();
      });
      socket.pipe(other);
    }
  });

  const watch = async (target: Target): Promise<void> => {
    const url = `http://${HOST}:${target.metrics_port}/readyz`;
    const { ok } = await fetch(url, { signal: AbortSignal.timeout(LOOK_LIMIT_MS) }).catch(() => ({
      ok: false,
    }));
    if (ok) ready.add(target);
    else ready.delete(target);
  };
  const watching = (async () => {
    while (open) {
      await Promise.all(targets.map(watch));
      await sleep(LOOK_EVERY_MS);
    }
  })();

  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      open = false;
      await watching;
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
