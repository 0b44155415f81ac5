// Helpers for idempotency tests: requests with an Idempotency-Key, and a second gateway replica
// whose connection to Redis can be cut.
import { freePort } from '../../deploy/local/src/ports';
import { forward } from '../testkit/forwarder';
import { callRest, ONE, type Answer, type Mesh, type SeededNumber } from '../harness/shared-mesh';
import { startGateway, useMesh, usePartner } from './use-mesh';

export interface Asked {
  path?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Address of a replica; defaults to the mesh's gateway. */
  base_url?: string;
}

export const HELLO = { to: '15550100777', text: 'Hello' };
export const UNKNOWN = {
  code: 'UPSTREAM_ERROR',
  retryable: true,
  details: { outcome: 'unknown' },
};

export const isReplay = ({ headers }: Answer): boolean =>
  headers.get('idempotency-replayed') === 'true';
export const codeOf = ({ status, body }: Answer): unknown[] => [status, body.error?.code];

interface Replica {
  base_url: string;
  cutFromRedis(): void;
  stop(): Promise<void>;
}

/** A short request timeout, so that the lease on a key expires soon. */
const REPLICA_TIMEOUT_MS = 4_000;

async function startReplica(mesh: Mesh): Promise<Replica> {
  const redis_port = await freePort();
  const link = await forward(redis_port, new URL(mesh.env['REDIS_URL'] as string).host);
  const gateway = await startGateway({
    ...mesh.env,
    REDIS_URL: `redis://127.0.0.1:${redis_port}`,
    REQUEST_TIMEOUT_MS: String(REPLICA_TIMEOUT_MS),
  });
  return {
    base_url: gateway.base_url,
    cutFromRedis: () => void link.close(),
    async stop() {
      await gateway.stop();
      await link.close();
    },
  };
}

/** A mesh with a partner and a second gateway; the upstream's faults end with each test. */
export function useReplica(numbers?: readonly SeededNumber[]) {
  const mesh = useMesh();
  const partner = usePartner(mesh, numbers, { rate_limit_per_sec: 1_000 });
  const replica = {} as Replica;
  beforeAll(async () => {
    Object.assign(replica, await startReplica(mesh));
  });
  afterEach(async () => {
    await mesh.emulator.clearFaults();
    await mesh.emulator.behaviour({ hold: false });
  });
  afterAll(() => replica.stop?.());
  return {
    mesh,
    partner,
    replica,
    /** Sends a request with the key; by default a text message. */
    ask: (
      key: string,
      { path = '/messages/send', body = HELLO, headers, base_url }: Asked = {},
    ): Promise<Answer> =>
      callRest(base_url ?? mesh.base_url, 'POST', path, body, {
        'x-partner-key': partner.partner_key,
        'x-waba-id': ONE.waba_id,
        'idempotency-key': key,
        ...headers,
      }),
    countSent: async (): Promise<number> => (await mesh.emulator.summary()).total,
    /** The upstream fails the next request of this path. */
    fault: (effect: object, path = '/messages$') =>
      mesh.emulator.fault({ match: { method: 'POST', path }, times: 1, ...effect } as never),
  };
}
