// TCP links between the processes of a run. Each caller has its own link to each server that it
// uses, so that a fault concerns these two only.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineName, ServiceName } from '@bmg/local';

export type Server = EngineName | ServiceName | 'upstream';

/** `upstream` as a caller: it posts its webhooks to the ingress. */
export const CALLS: Readonly<Record<ServiceName | 'upstream', readonly Server[]>> = {
  gateway: [
    'redis',
    'kafka',
    'onboarding',
    'messaging',
    'templates',
    'broadcasts',
    'number-admin',
    'webhooks',
  ],
  onboarding: ['mongo', 'kafka', 'redis', 'upstream'],
  messaging: [
    'mongo',
    'kafka',
    'redis',
    'upstream',
    'onboarding',
    'templates',
    'broadcasts',
    'webhooks',
  ],
  templates: ['mongo', 'kafka', 'redis', 'upstream', 'onboarding'],
  broadcasts: ['mongo', 'kafka', 'redis', 'messaging', 'templates', 'onboarding'],
  'number-admin': ['mongo', 'redis', 'upstream', 'onboarding'],
  webhooks: ['mongo', 'kafka', 'redis', 'onboarding', 'destinations'],
  destinations: [],
  fanout: ['redis', 'kafka', 'onboarding', 'messaging'],
  upstream: ['webhooks'],
};

/** `black_hole` keeps connections open and forwards nothing; the bytes arrive once it ends. */
export type LinkFault =
  | { kind: 'delay'; delay_ms: number }
  | { kind: 'throttle'; bytes_per_sec: number }
  | { kind: 'reset' }
  | { kind: 'black_hole' };

export type Link = Awaited<ReturnType<typeof startLink>>;

const HOST = '127.0.0.1';
const HOLE_LOOK_MS = 50;

export async function startLink(target_port: number) {
  const open = new Set<Socket>();
  let fault: LinkFault | undefined;
  let closed = false;

  const untilPassed = async (bytes: number): Promise<void> => {
    if (fault?.kind === 'delay') await sleep(fault.delay_ms);
    if (fault?.kind === 'throttle') await sleep((bytes / fault.bytes_per_sec) * 1_000);
    while (fault?.kind === 'black_hole' && !closed) await sleep(HOLE_LOOK_MS);
  };
  const pump = (from: Socket, to: Socket): void => {
    open.add(from);
    from.setNoDelay(true);
    from.on('data', (chunk: Buffer) => {
      from.pause();
      const write = (): void => {
        if (to.destroyed) from.destroy();
        else to.write(chunk, () => from.resume());
      };
      if (fault) void untilPassed(chunk.length).then(write);
      else write();
    });
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
    from.on('close', () => {
      open.delete(from);
      to.destroySoon();
    });
  };
  const server = createServer((near) => {
    if (fault?.kind === 'reset') return void near.resetAndDestroy();
    const far = connect(target_port, HOST);
    pump(near, far);
    pump(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    /** Applies a fault; undefined ends it. */
    set(next: LinkFault | undefined): void {
      fault = next;
      if (fault?.kind === 'reset') for (const socket of open) socket.resetAndDestroy();
    },
    async close(): Promise<void> {
      closed = true;
      const ended = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await ended;
    },
  };
}
