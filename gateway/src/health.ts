// GET /health: the state of every dependency, checked in the background so that an answer costs
// nothing.
import { connect } from 'node:net';
import { API_VERSION } from '@bmg/common/notices';
import { createPoller, within } from '@bmg/common/lifecycle';
import type { Bus } from '@bmg/common/bus';
import { CACHE_LIFE_AWAY_MS } from '@bmg/common/directory';
import type { RedisConnection } from '@bmg/common/redis';
import { createRpcClient, ownCall } from '@bmg/common/rpc';
import { unsampled, type Logger } from '@bmg/common/telemetry';
import { HealthCheckResponse_ServingStatus as Serving, HealthDefinition } from '@bmg/proto/health';

export type HealthMonitor = ReturnType<typeof createHealthMonitor>;

type ProbedRedis = Pick<RedisConnection, 'up'> & { redis: Pick<RedisConnection['redis'], 'ping'> };

export const HEALTH_PATH = '/v1/health';
/** No send works without these; the value is how long their cached answers suffice, in ms. */
const ESSENTIAL = { onboarding: CACHE_LIFE_AWAY_MS, messaging: 0 };
const TIMES = {
  check_every_ms: 1_000,
  check_ms: 1_000,
  /** One late answer is no outage: Redis is down if none has come for this time. */
  redis_silence_ms: 3_000,
};
/** Fanout has no RPCs: it is healthy while it consumes the upstream's webhooks from Kafka. */
const FANOUT = 'fanout';
const FANOUT_GROUP = 'fanout-webhook';

export function createHealthMonitor(
  addresses: Record<string, string>,
  redis: ProbedRedis,
  kafka: { bus: Pick<Bus, 'check' | 'attended'>; brokers: string },
  log: Logger,
  { check_every_ms, check_ms, redis_silence_ms } = TIMES,
) {
  const clients = Object.entries(addresses).map(([name, address]) => ({
    name,
    client: createRpcClient(HealthDefinition, address),
  }));
  const { states, set, isOld } = createStates([...Object.keys(addresses), FANOUT, 'redis']);
  /** False if a check fails, or is late. */
  const succeed = (...checks: Promise<unknown>[]): Promise<boolean> =>
    within(check_ms, Promise.all(checks)).then(
      () => true,
      () => false,
    );
  const checkAll = async (): Promise<void> => {
    await Promise.all([
      ...clients.map(async ({ name, client }) => {
        const call = ownCall(unsampled(), check_ms);
        const serving = await client.rpc.check({ service: '' }, call).then(
          ({ status }) => status === Serving.SERVING,
          () => false,
        );
        set(name, serving);
      }),
      // The last publish may be old, so a broker must accept too.
      succeed(kafka.bus.check(), anyAccepts(kafka.brokers, check_ms)).then((ok) =>
        set('kafka', ok),
      ),
      succeed(kafka.bus.attended(FANOUT_GROUP)).then((ok) => set(FANOUT, ok)),
      // A stopped process keeps its connections: only an answer shows that it works.
      (redis.up() ? succeed(redis.redis.ping()) : Promise.resolve(false)).then((ok) => {
        if (ok || !redis.up() || isOld('redis', redis_silence_ms)) set('redis', ok);
      }),
    ]);
  };
  const poller = createPoller('health', check_every_ms, checkAll, log);
  return {
    name: 'health',
    async start(signal: AbortSignal): Promise<void> {
      for (const { client } of clients) await client.start(signal);
      await checkAll();
      await poller.start(signal);
    },
    async stop(): Promise<void> {
      await poller.stop();
      for (const { client } of clients) await client.stop();
    },
    report(): { http: 200 | 503; body: Record<string, unknown> } {
      const all_ok = [...states.values()].every((state) => state === 'ok');
      const can_send = Object.entries(ESSENTIAL).every(
        ([name, cached_ms]) => states.get(name) === 'ok' || !isOld(name, cached_ms),
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

/** The state of each dependency, and when it last was ok. */
function createStates(names: string[]) {
  const states = new Map<string, 'ok' | 'down'>(names.map((name) => [name, 'down']));
  const last_ok = new Map<string, number>();
  return {
    states,
    set(name: string, ok: boolean): void {
      states.set(name, ok ? 'ok' : 'down');
      if (ok) last_ok.set(name, performance.now());
    },
    isOld: (name: string, max_ms: number): boolean =>
      performance.now() - (last_ok.get(name) ?? -Infinity) >= max_ms,
  };
}

/** Rejects when no broker accepts a connection. */
const anyAccepts = (brokers: string, timeout: number): Promise<void> =>
  Promise.any(brokers.split(',').map((address) => accepts(address, timeout)));

function accepts(address: string, timeout: number): Promise<void> {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const port = Number(address.slice(at + 1));
    const socket = connect({ host, port, timeout });
    const end = (settle: () => void) => () => {
      socket.destroy();
      settle();
    };
    const refuse = end(() => reject(new Error('no broker accepts connections')));
    socket.once('connect', end(resolve));
    socket.once('timeout', refuse);
    socket.once('error', refuse);
  });
}
