// GET /health: the state of every dependency, checked in the background so that an answer costs
// nothing.
import { connect } from 'node:net';
import { API_VERSION } from '@bmg/common/notices';
import { createPoller, within, type Component } from '@bmg/common/lifecycle';
import type { Bus } from '@bmg/common/bus';
import { CACHE_LIFE_AWAY_MS } from '@bmg/common/directory';
import type { RedisConnection } from '@bmg/common/redis';
import { createRpcClient, ownCall } from '@bmg/common/rpc';
import { unsampled, type Logger } from '@bmg/common/telemetry';
import { HealthCheckResponse_ServingStatus as Serving, HealthDefinition } from '@bmg/proto/health';

type State = 'ok' | 'down';

export interface HealthReport {
  http: 200 | 503;
  body: Record<string, unknown>;
}

export interface HealthMonitor extends Component {
  report(): HealthReport;
}

export const HEALTH_PATH = '/v1/health';
const CHECK_EVERY_MS = 1_000;
const CHECK_TIMEOUT_MS = 1_000;
/**
 * No send works without one of these; the value is how long the answers cached from it suffice, in
 * ms.
 */
const ESSENTIAL = { onboarding: CACHE_LIFE_AWAY_MS, messaging: 0 };
/** Fanout has no RPCs: it is healthy while it consumes the upstream's webhooks from Kafka. */
const FANOUT = 'fanout';

export function createHealthMonitor(
  addresses: Record<string, string>,
  redis: RedisConnection,
  kafka: { bus: Pick<Bus, 'check' | 'attended'>; brokers: string },
  log: Logger,
): HealthMonitor {
  const clients = Object.entries(addresses).map(([name, address]) => ({
    name,
    client: createRpcClient(HealthDefinition, address),
  }));
  const states = new Map<string, State>(
    [...clients, { name: FANOUT }].map(({ name }) => [name, 'down']),
  );
  const last_ok = new Map<string, number>();
  const set = (name: string, ok: boolean): void => {
    states.set(name, ok ? 'ok' : 'down');
    if (ok) last_ok.set(name, performance.now());
  };
  const checkAll = async (): Promise<void> => {
    await Promise.all([
      ...clients.map(async ({ name, client }) => {
        const call = ownCall(unsampled(), CHECK_TIMEOUT_MS);
        const serving = await client.rpc.check({ service: '' }, call).then(
          ({ status }) => status === Serving.SERVING,
          () => false,
        );
        set(name, serving);
      }),
      (async () => {
        // The last publish may be old, so a broker must accept too.
        set('kafka', await succeeds([kafka.bus.check(), anyAccepts(kafka.brokers)]));
      })(),
      (async () => {
        set(FANOUT, await succeeds([within(CHECK_TIMEOUT_MS, kafka.bus.attended(FANOUT))]));
      })(),
    ]);
    set('redis', redis.up());
  };
  const poller = createPoller('health', CHECK_EVERY_MS, checkAll, log);
  return {
    name: 'health',
    async start(signal) {
      for (const { client } of clients) await client.start(signal);
      await checkAll();
      await poller.start(signal);
    },
    async stop() {
      await poller.stop();
      for (const { client } of clients) await client.stop();
    },
    report() {
      const all_ok = [...states.values()].every((state) => state === 'ok');
      const now = performance.now();
      const can_send = Object.entries(ESSENTIAL).every(
        ([name, cached_ms]) =>
          states.get(name) === 'ok' || now - (last_ok.get(name) ?? -Infinity) < cached_ms,
      );
      return {
        http: can_send ? 200 : 503,
        body: {
          success: can_send,
          status: all_ok ? 'ok' : can_send ? 'degraded' : 'down',
          version: API_VERSION,
          dependencies: Object.fromEntries(
            [...states].map(([name, state]) => [name, { status: state }]),
          ),
        },
      };
    },
  };
}

const succeeds = (checks: Promise<void>[]): Promise<boolean> =>
  Promise.all(checks).then(
    () => true,
    () => false,
  );

/** Rejects when no broker accepts a connection. */
const anyAccepts = (brokers: string): Promise<void> => Promise.any(brokers.split(',').map(accepts));

function accepts(address: string): Promise<void> {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(address.slice(at + 1)),
      timeout: CHECK_TIMEOUT_MS,
    });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    const refuse = (): void => {
      socket.destroy();
      reject(new Error('no broker accepts connections'));
    };
    socket.once('timeout', refuse);
    socket.once('error', refuse);
  });
}
