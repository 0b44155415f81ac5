// Helpers for idempotency tests: requests with an Idempotency-Key, and a second gateway replica
// whose connection to Redis can be cut.
import { loadConfig } from '@bmg/common/config';
import { startService } from '@bmg/common/lifecycle';
import { createLogger } from '@bmg/common/telemetry';
import { settings } from '../../gateway/src/config';
import { createGateway } from '../../gateway/src/service';
import { freePort } from '../../deploy/local/src/ports';
import { eventually } from '../testkit/eventually';
import { forward } from '../testkit/forwarder';
import { callRest, ONE, type Answer, type Mesh } from '../harness/shared-mesh';

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

/** Sends a request with the key; by default a text message. */
export const createAsk =
  (mesh: Mesh, partner_key: string) =>
  (key: string, { path = '/messages/send', body = HELLO, headers, base_url }: Asked = {}) =>
    callRest(base_url ?? mesh.base_url, 'POST', path, body, {
      'x-partner-key': partner_key,
      'x-waba-id': ONE.waba_id,
      'idempotency-key': key,
      ...headers,
    });

export interface Replica {
  base_url: string;
  cutFromRedis(): void;
  stop(): Promise<void>;
}

/** A short request timeout, so that the lease on a key expires soon. */
const REPLICA_TIMEOUT_MS = 4_000;

export async function startReplica(mesh: Mesh): Promise<Replica> {
  const redis_port = await freePort();
  const link = await forward(redis_port, new URL(mesh.env['REDIS_URL'] as string).host);
  const port = await freePort();
  const env = {
    ...mesh.env,
    GATEWAY_PORT: String(port),
    REDIS_URL: `redis://127.0.0.1:${redis_port}`,
    REQUEST_TIMEOUT_MS: String(REPLICA_TIMEOUT_MS),
  };
  const service = createGateway(loadConfig(settings, env));
  const running = await startService(service, createLogger('gateway-2'));
  await eventually(() => running.ready());
  return {
    base_url: `http://127.0.0.1:${port}/v1`,
    cutFromRedis: () => void link.close(),
    async stop() {
      await running.stop();
      await link.close();
    },
  };
}
