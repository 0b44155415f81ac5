// GET /health: the state of each part, asked in the background, so that the answer itself costs nothing.
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
const ASK_EVERY_MS = 1_000;
const ASK_LIMIT_MS = 1_000;
/** Without one of these no send works, once what the services remember of its answers is too old. */
const ESSENTIAL = { onboarding: CACHE_LIFE_AWAY_MS, messaging: 0 };
/** It is called by nobody: it works while it takes the upstream's webhooks from Kafka. */
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
  const ask = async (): Promise<void> => {
    await Promise.all([
      ...clients.map(async ({ name, client }) => {
        const call = ownCall(unsampled(), ASK_LIMIT_MS);
        const serving = await client.rpc.check({ service: '' }, call).then(
          ({ status }) => status === Serving.SERVING,
          () => false,
        );
        set(name, serving);
      }),
      (async () => {
        // What was sent last says nothing once there is no traffic: somebody must be listening as well.
        set('kafka', await succeeds([kafka.bus.check(), anyListens(kafka.brokers)]));
      })(),
      (async () => {
        set(FANOUT, await succeeds([within(ASK_LIMIT_MS, kafka.bus.attended(FANOUT))]));
      })(),
    ]);
    set('redis', redis.up());
  };
  const poller = createPoller('health', ASK_EVERY_MS, ask, log);
  return {
    name: 'health',
    async start(signal) {
      for (const { client } of clients) await client.start(signal);
      await ask();
      await poller.start(signal);
    },
    async stop() {
      await poller.stop();
      for (const { client } of clients) await client.stop();
    },
    report() {
      const all = [...states.values()].every((state) => state === 'ok');
      const now = performance.now();
      const possible = Object.entries(ESSENTIAL).every(
        ([name, remembered_ms]) =>
          states.get(name) === 'ok' || now - (last_ok.get(name) ?? -Infinity) < remembered_ms,
      );
      return {
        http: possible ? 200 : 503,
        body: {
          success: possible,
          status: all ? 'ok' : possible ? 'degraded' : 'down',
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

/** Rejects when no broker takes a connection. */
const anyListens = (brokers: string): Promise<void> => Promise.any(brokers.split(',').map(listens));

function listens(address: string): Promise<void> {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(address.slice(at + 1)), timeout: ASK_LIMIT_MS });
    const settle = (act: () => void) => (): void => {
      socket.destroy();
      act();
    };
    socket.once('connect', settle(resolve));
    socket.once(
      'timeout',
      settle(() => reject(new Error('nobody listens'))),
    );
    socket.once(
      'error',
      settle(() => reject(new Error('nobody listens'))),
    );
  });
}
