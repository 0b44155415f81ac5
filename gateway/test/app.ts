// For a test file: the gateway's app on free ports, with doubles of what the test does not name.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '@bmg/common/telemetry';
import { createApp, type AppDependencies } from '../src/app';
import { createLoad } from '../src/limits/load';

export const log = createLogger('test');
log.level = 'silent';

const OPEN_BUCKET = { allowed: true, asked: true, remaining: 1, reset_s: 0, retry_after_s: 1 };

/** Every key is known: it is the ID of its partner. Nothing is recorded or delayed. */
export const DOUBLES = {
  notices: {},
  docs_url: 'https://gateway.example.com/docs',
  base_url: 'https://gateway.example.com/v1',
  request_timeout_ms: 60_000,
  authenticator: {
    identify: async (key: string) => ({
      key_hashes: [key],
      caller: { partner_id: key, rate_limit_per_sec: 1_000, status: 'active' },
    }),
    confirm: async ({ caller }: { caller: unknown }) => caller,
  },
  bucket: { take: async () => OPEN_BUCKET },
  scope: async (partner_id: string) => ({ partner_id, waba_id: '1', phone_number_id: '2' }),
  meter: { count: () => undefined },
  load: createLoad(1_000, log),
  requests: { takes: () => false },
  refusals: { turn: async () => undefined },
  refused: { note: () => undefined },
  recorder: { run: (_change: unknown, _from: unknown, work: () => unknown) => work() },
  guards: () => (work: { run(call: unknown): unknown; call: unknown }) => work.run(work.call),
  health: { report: () => ({ http: 200, body: { status: 'ok' } }) },
  log,
};

export function useApp() {
  const servers: Server[] = [];
  afterAll(() => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  });
  /** Starts an app with these parts; returns its port. */
  const start = async (parts: { [K in keyof AppDependencies]?: unknown }): Promise<number> => {
    const server = createApp({ ...DOUBLES, ...parts } as AppDependencies).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  return { start, log };
}
