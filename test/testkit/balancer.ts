// A load balancer for replicas, like a Kubernetes Service: each new connection goes to the next
// ready replica; established connections stay where they are.
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { joinSockets } from './join-sockets';

export interface Balancer {
  port: number;
  close(): Promise<void>;
}

export interface Target {
  port: number;
  /** The port of its /readyz. */
  metrics_port: number;
}

const HOST = '127.0.0.1';
const PROBE_EVERY_MS = 50;
const PROBE_TIMEOUT_MS = 1_000;

/** `targets` may be filled later: until one of them is ready, connections are refused. */
export async function startBalancer(targets: Target[]): Promise<Balancer> {
  const ready = new Set<Target>();
  const sockets = new Set<Socket>();
  let turn = 0;
  let open = true;

  const server = createServer((from) => {
    const candidates = targets.filter((target) => ready.has(target));
    const target = candidates[(turn += 1) % candidates.length];
    if (!target) return void from.destroy();
    joinSockets(from, connect(target.port, HOST), sockets);
  });

  const probe = async (target: Target): Promise<void> => {
    const url = `http://${HOST}:${target.metrics_port}/readyz`;
    const { ok } = await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).catch(
      () => ({
        ok: false,
      }),
    );
    if (ok) ready.add(target);
    else ready.delete(target);
  };
  const probing = (async () => {
    while (open) {
      await Promise.all(targets.map(probe));
      await sleep(PROBE_EVERY_MS);
    }
  })();

  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      open = false;
      await probing;
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
